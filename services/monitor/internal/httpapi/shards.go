package httpapi

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

// offsets shows the shards of a group. A shard that cannot be read carries its problem, and
// the others are as they are (F35).
func (a *api) offsets(ctx context.Context, r *http.Request) (any, error) {
	at, now, err := a.lookAt(r)
	if err != nil {
		return nil, err
	}
	found, there := views.Offsets(now.Round, now.Snapshot, at.stream, at.group)
	if !there {
		return nil, a.notObserved(ctx, at)
	}
	return found, nil
}

// consumption shows what members have said of their shards.
func (a *api) consumption(ctx context.Context, r *http.Request) (any, error) {
	at, now, err := a.lookAt(r)
	if err != nil {
		return nil, err
	}
	found, there := views.Consumption(now.Round, at.stream, at.group)
	if !there {
		return nil, a.notObserved(ctx, at)
	}
	return found, nil
}

// lookAt returns what a request names, and the newest look at it.
func (a *api) lookAt(r *http.Request) (place, Look, error) {
	at, err := a.placeOf(r)
	if err != nil {
		return place{}, Look{}, err
	}
	now, err := a.look()
	return at, now, err
}
