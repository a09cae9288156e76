package job

import (
	"errors"
	"strings"
)

// An error of a step travels through the runner as text, which the runner wraps in traces of its own. The marks show
// the submitter where the error of the step begins and ends.
const (
	failureBegin = "{{bloomery: "
	failureEnd   = " :bloomery}}"
)

// failure is an error of a step on its way through a runner.
type failure struct{ error }

// fail marks an error of a step, once.
func fail(err error) error {
	if err == nil || errors.As(err, &failure{}) {
		return err
	}
	return failure{err}
}

func (f failure) Error() string { return failureBegin + f.error.Error() + failureEnd }

func (f failure) Unwrap() error { return f.error }

// failed returns the first error of a step in the text of a runner, without the runner's traces. It returns false if
// there is none: then the runner itself failed.
func failed(text string) (string, bool) {
	_, rest, ok := strings.Cut(text, failureBegin)
	if !ok {
		return "", false
	}
	message, _, ok := strings.Cut(rest, failureEnd)
	return message, ok
}
