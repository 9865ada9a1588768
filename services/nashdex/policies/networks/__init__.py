"""Networks by name: how an observation becomes action logits and a value, for training and for acting.

``settings`` lists them, ``actor_critic`` says what a network has to do, and each has its own folder.
"""
