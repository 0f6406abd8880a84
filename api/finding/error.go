package finding

import "errors"

// Error is a failure a user can act on: a code of the catalogue, the error, and the next command to run.
type Error struct {
	// Code of the finding.
	Code Code
	// Hint is the next command or edit, without the word "hint"; may be empty.
	Hint string
	// Err says what failed, with which object and why.
	Err error
}

// Error returns the text of the wrapped error; code and hint are printed separately.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Wrap attaches a code and a hint to an error. A nil error stays nil.
func Wrap(err error, code Code, hint string) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Hint: hint, Err: err}
}

// From returns the outermost Error in a chain, and false when there is none.
func From(err error) (*Error, bool) {
	var found *Error
	ok := errors.As(err, &found)
	return found, ok
}
