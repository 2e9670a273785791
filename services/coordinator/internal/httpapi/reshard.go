package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func (a *api) scaleStream() http.HandlerFunc {
	return mutation(a, change[protocol.ScaleRequest, protocol.StreamScaleResponse]{
		check: func(req protocol.ScaleRequest) error { return checkScale(req, a.MaxShards) },
		plan:  ofStream(a.Plans.PlanScale), do: ofStream(a.Reshardings.Scale),
		status: http.StatusAccepted, complete: completeScaled,
	})
}

// scaleGroup is kept for old clients: it scales the whole stream (wire contract).
func (a *api) scaleGroup() http.HandlerFunc {
	return mutation(a, change[protocol.ScaleRequest, protocol.Migration]{
		check: func(req protocol.ScaleRequest) error { return checkScale(req, a.MaxShards) },
		plan:  withGroup(a, ofStream(a.Plans.PlanScale)), do: withGroup(a, a.scaleOne),
		status: http.StatusAccepted, complete: completeMigration,
	})
}

// withGroup refuses what is asked by the name of a group that does not exist.
func withGroup[A any](a *api, next operation[protocol.ScaleRequest, A]) operation[protocol.ScaleRequest, A] {
	return func(ctx context.Context, at place, req protocol.ScaleRequest) (A, error) {
		if _, err := a.Views.Group(ctx, at.stream, at.group); err != nil {
			var none A
			return none, err
		}
		return next(ctx, at, req)
	}
}

// scaleOne answers the resharding of a stream, the same one for all its groups (L1).
func (a *api) scaleOne(ctx context.Context, at place, req protocol.ScaleRequest) (protocol.Migration, error) {
	scaled, err := a.Reshardings.Scale(ctx, at.stream, req)
	switch {
	case err != nil:
		return protocol.Migration{}, err
	case len(scaled.Migrations) == 0:
		return protocol.Migration{}, fmt.Errorf("scale %s: the layer below gave neither resharding nor error", at.stream)
	}
	return scaled.Migrations[0], nil
}

func (a *api) migration(ctx context.Context, _ http.ResponseWriter, r *http.Request) (answer, error) {
	at, err := a.placeOf(r)
	if err != nil {
		return answer{}, err
	}
	found, err := a.Reshardings.Migration(ctx, at.stream, at.group, at.resharding)
	return answer{http.StatusOK, completeMigration(found)}, err
}

func (a *api) rollback() http.HandlerFunc {
	return mutation(a, change[protocol.RollbackRequest, protocol.Migration]{
		check: func(req protocol.RollbackRequest) error { return checkCause(req.RequestedBy, req.Reason) },
		plan:  ofResharding(a.Plans.PlanRollback), do: ofResharding(a.Reshardings.Rollback),
		status: http.StatusAccepted, complete: completeMigration,
	})
}

func (a *api) confirmDrain() http.HandlerFunc {
	return mutation(a, change[protocol.ConfirmDrainRequest, protocol.Migration]{
		check:  checkConfirmDrain,
		do:     ofResharding(a.Reshardings.ConfirmDrain),
		status: http.StatusAccepted, complete: completeMigration,
	})
}
