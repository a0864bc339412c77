"""The page of `ticore serve`: the same reports as the command line has, for a browser.

server.py        a socket of this computer, and the server on it
app.py           which request gets which answer
security.py      which requests are answered at all, and what every answer forbids the browser
refusals.py      why a request gets no answer, in words
fields.py        what a request says, checked
jobs.py          work in threads: bounded in number and time, and stopped when nobody waits
failures.py      why work failed, and where in a text
models.py        the models that the page may open
choices.py       what a person can choose
sharing.py       what the two sides of a message share: an agreement, or a secret and settings
messages.py      messages in and out of text
tokens.py        a text token by token
mark_sharing.py  what writer and detector of a watermark share
marking.py       a text with a watermark, and each token that was taken back on the way
detecting.py     whether a text has a watermark
static/          the page itself

Only `app`, `security` and `server` import the web framework, which the extra `serve` installs.
"""
