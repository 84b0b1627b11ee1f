// Package hint gives an error a second line: what the user can do about it.
//
// Errors everywhere read `doing X: why`. Code that knows the remedy adds it with New; wrapping the
// error with %w keeps the hint. The command line gets the hint with Of, and prints both:
//
//	whatif: starting ./server: permission denied
//	whatif: hint: make it executable: chmod +x ./server
package hint

import "errors"

// Error is an error with a remedy. Its text is that of Err alone: otherwise wrapping would bury
// the remedy in the middle of a sentence.
type Error struct {
	Err  error
	Hint string
}

// New adds a remedy to err. A nil err stays nil; an empty remedy adds nothing.
func New(err error, remedy string) error {
	if err == nil || remedy == "" {
		return err
	}
	return &Error{Err: err, Hint: remedy}
}

// Error returns the text of Err.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Of returns the outermost remedy in err's chain, "" if there is none.
func Of(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}
