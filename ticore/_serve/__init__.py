"""The page of `ticore serve`: the same reports as the command line has, for a browser.

server.py        the page on a socket of this computer
listening.py     such a socket, and an application on it
connections.py   its connections, bounded in number, none of them silent for long
app.py           which request gets which answer
security.py      which requests are answered at all, and what every answer forbids the browser
refusals.py      why a request gets no answer, in words
bodies.py        the body of a request, bounded
fields.py        what a request says, checked
jobs.py          work in threads: bounded in number and time, and stopped when nobody waits
handlers.py      what is answered where nothing can be done
failures.py      why work failed, and where in a text
page_words.py    the advice of errors, such that the page can follow it
models.py        the models that the page may open
choices.py       what a person can choose
sharing.py       what the two sides of a message share: an agreement, or a secret and settings
messages.py      messages in and out of text
tokens.py        a text token by token
mark_sharing.py  what writer and detector of a watermark share
marking.py       a text with a watermark, and each token that was taken back on the way
detecting.py     whether a text has a watermark
static/          the page itself
detection/       `ticore detect-server`: detection for other programs

Only `app`, `bodies`, `connections`, `handlers`, `listening`, `security`, `server` and detection/
import the web framework, which the extra `serve` installs.
"""
