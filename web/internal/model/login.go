package model

import (
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Login is the form to log in.
type Login struct {
	// Refusal says why the try before was refused; empty for none.
	Refusal string
	// Next is the page that the login leads to.
	Next string
}

// NewLogin makes the form after a refusal with a code, which may name the seconds to wait.
func NewLogin(code, wait, next string) Login {
	form := Login{Next: next}
	switch code {
	case "":
	case string(protocol.CodeUnauthorized):
		form.Refusal = "User name or password is wrong."
	case string(protocol.CodeRateLimitExceeded):
		form.Refusal = "There were too many failed logins with this name or from this address. Try again later."
		if seconds, err := strconv.Atoi(wait); err == nil && seconds > 0 {
			form.Refusal = "There were too many failed logins with this name or from this address. Try again in " + strconv.Itoa(seconds) + " s."
		}
	case string(protocol.CodeInvalidRequest):
		form.Refusal = "Both a user name and a password are needed."
	default:
		form.Refusal = "The gateway could not log you in at the moment."
	}
	return form
}
