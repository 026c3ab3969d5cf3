"""A failure that the user meets: the exit status and a message that says need, have and where."""


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message
