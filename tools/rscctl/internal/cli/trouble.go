package cli

import (
	"errors"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// passing tells whether the same request may succeed later.
func passing(err error) bool {
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Retriable()
	}
	return errors.Is(err, client.ErrUnavailable)
}

// trouble says that something which goes on meets an error that passes.
func (s *session) trouble(err error) {
	s.notes().Line("rscctl: %s; trying again", s.cause(err))
}
