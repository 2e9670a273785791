package httpapi

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func (a *api) streams(ctx context.Context, _ http.ResponseWriter, _ *http.Request) (answer, error) {
	found, err := a.Catalog.Streams(ctx)
	return answer{http.StatusOK, completeStreams(found)}, err
}

func (a *api) stream(ctx context.Context, _ http.ResponseWriter, r *http.Request) (answer, error) {
	at, err := a.placeOf(r)
	if err != nil {
		return answer{}, err
	}
	found, err := a.Catalog.Stream(ctx, at.stream)
	return answer{http.StatusOK, completeStream(found)}, err
}

func (a *api) createStream() http.HandlerFunc {
	return mutation(a, change[protocol.CreateStreamRequest, protocol.StreamCreateResponse]{
		check: func(req protocol.CreateStreamRequest) error { return checkCreateStream(req, a.MaxShards) },
		plan:  ofStream(a.Plans.PlanCreateStream), do: ofStream(a.Catalog.CreateStream),
		status: http.StatusCreated, complete: completeCreated,
	})
}

func (a *api) createGroup() http.HandlerFunc {
	return mutation(a, change[protocol.CreateGroupRequest, protocol.GroupResponse]{
		check: func(req protocol.CreateGroupRequest) error { return checkCreateGroup(req, a.MaxShards) },
		plan:  ofGroup(a.Plans.PlanCreateGroup), do: ofGroup(a.Catalog.CreateGroup),
		status: http.StatusCreated, complete: completeGroup,
	})
}

func (a *api) deleteStream() http.HandlerFunc {
	return mutation(a, change[protocol.DeleteRequest, protocol.StreamResponse]{
		check: checkDelete,
		plan:  ofStream(a.Plans.PlanDeleteStream), do: ofStream(a.Catalog.DeleteStream),
		status: http.StatusOK, complete: completeStream,
	})
}

func (a *api) deleteGroup() http.HandlerFunc {
	return mutation(a, change[protocol.DeleteRequest, protocol.GroupResponse]{
		check: checkDelete,
		plan:  ofGroup(a.Plans.PlanDeleteGroup), do: ofGroup(a.Catalog.DeleteGroup),
		status: http.StatusOK, complete: completeGroup,
	})
}
