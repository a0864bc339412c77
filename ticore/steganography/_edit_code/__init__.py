"""A code for messages whose texts are edited on the way: tokens replaced, dropped or put in.

An edit shifts all that follows it. So nothing here depends on a token's number, and each token is
read by itself, from the window before it alone: the model sees the prompt and the window, and so do
writer and reader.

    message -> frame -> outer code -> bits -> states of a trellis, one per bit
                        window     -> a step of the trellis, and random numbers for its states
    number of the step's state     -> the token, out of the weighted choices

1. *Windows.* The key and the N tokens before a token say which step of the trellis the token is
   about, and give each state there a number of 32 bits, all under one random mask. A window that
   stood in the text before says nothing: its token is chosen freely.
2. *Tokens.* The number of the state that the message has there chooses the token, as a sample from
   the weights. Numbers are uniform and, but for the key, independent of each other and of the
   message, so the text is a sample of the model (with these windows as its context).
3. *Reading.* A token tells which numbers would have chosen it, and so which states the message may
   have there. Somebody else's token tells the same of wrong states, which is why no single token
   is trusted. The best path through the trellis over all tokens is the message (Viterbi; the way
   from tokens to states is that of spinal codes: Perry, Balakrishnan & Shah, 2011).
4. *Outer code.* Where edits leave a hole, the path goes wrong for some bytes. A Reed-Solomon code
   corrects them, and the tag of the frame says whether what comes out is right.

The code has no fixed length: the writer goes on until the message survives random edits of its own.

What an adversary can do: any edits that leave enough tokens whole lose nothing, wherever they are;
each spoils its own token and the N after it. Who replaces all words, or translates, destroys the
message. Nobody can make a reader find another one, but with the frame's chance of forgery.

windows.py     what a window says: a step and a mask
trellis.py     states, their numbers, and the best path
outer_code.py  Reed-Solomon code over the bytes of a frame
evidence.py    what the tokens of a text tell, and the frame that fits best
session.py     what is verified in an edited text
writer.py      chooses tokens, until the message survives edits
job.py         writing and reading a text
"""
