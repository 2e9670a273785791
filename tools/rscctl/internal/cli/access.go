package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// access says what to do about a refusal that is about who asks, or how often; empty for all
// others.
func (s *session) access(code protocol.Code, at place, pause time.Duration) string {
	switch {
	case code == protocol.CodeRateLimitExceeded && pause > 0:
		return fmt.Sprintf("wait %s, then try again", pause.Round(time.Second))
	case code == protocol.CodeUnauthorized && at.login:
		return "check the user name and the password"
	case code == protocol.CodeUnauthorized:
		step := s.becomeKnown()
		if at.changes {
			step += "; where a coordinator was asked, name the gateway with --coordinator or $RSC_COORDINATOR"
		}
		return step
	case code == protocol.CodeForbidden:
		return s.getRole(at)
	case at.login && (code == protocol.CodeNotFound || code == protocol.CodeMethodNotAllowed):
		return "coordinators have no logins: name the gateway with --coordinator or $RSC_COORDINATOR"
	}
	return ""
}

// codeOf is the code that a refusal without one stands for, as a proxy's may be.
func codeOf(err error) protocol.Code {
	switch {
	case errors.Is(err, client.ErrUnauthorized):
		return protocol.CodeUnauthorized
	case errors.Is(err, client.ErrForbidden):
		return protocol.CodeForbidden
	}
	return ""
}

// becomeKnown is the step after a 401.
func (s *session) becomeKnown() string {
	switch {
	case s.credential.login != "":
		return fmt.Sprintf("the login of %s is over; log in again with: rscctl login --user %s", s.credential.login, s.credential.login)
	case s.credential.from != "":
		return s.credential.from + " is not taken: put a valid one there, or go without and log in with: rscctl login --user NAME"
	default:
		return "log in with: rscctl login --user NAME"
	}
}

// getRole is the step after a 403.
func (s *session) getRole(at place) string {
	role := "READ"
	if at.changes {
		role = "WRITE"
	}
	return fmt.Sprintf("it takes a user with the role %s for this stream: who keeps the gateway's settings gives roles;"+
		" to be somebody else: rscctl login --user NAME", role)
}
