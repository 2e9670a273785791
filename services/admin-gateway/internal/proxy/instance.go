package proxy

import (
	"net/url"
	"sync/atomic"
)

// instance is one process of a service.
type instance struct {
	base   *url.URL
	health health

	most     int64
	inFlight atomic.Int64
}

// enter takes a place at the instance; leave gives it back.
func (i *instance) enter() bool {
	if i.inFlight.Add(1) <= i.most {
		return true
	}
	i.inFlight.Add(-1)
	return false
}

func (i *instance) leave() { i.inFlight.Add(-1) }
