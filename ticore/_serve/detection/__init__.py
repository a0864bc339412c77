"""`ticore detect-server`: a service that looks for watermarks, for other programs.

server.py     a socket, and the service on it
app.py        which request gets which answer
gate.py       which requests are answered at all: its names, a token, a rate
workers.py    the processes that detect: bounded in number, started again if one dies
pulse.py      whether they still answer
worker.py     what each of them does with a request
query.py      what a request asks about, checked
detectors.py  the configurations that are looked for, all at once or one by its name
answers.py    what is answered about a text
openapi.py    the same in words that programs read

Keys come from files that the service is started with. No request names a file or a key, and no
answer or log holds one.
"""
