package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

func (a *api) streams(ctx context.Context, _ http.ResponseWriter, _ *http.Request) (answer, error) {
	found, err := a.Catalog.Streams(ctx)
	return answer{http.StatusOK, completeStreams(found)}, err
}

func (a *api) stream(ctx context.Context, _ http.ResponseWriter, r *http.Request) (answer, error) {
	stream, err := a.streamOf(r)
	if err != nil {
		return answer{}, err
	}
	found, err := a.Catalog.Stream(ctx, stream)
	return answer{http.StatusOK, completeStream(found)}, err
}

func (a *api) createStream(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	stream, err := a.streamOf(r)
	if err != nil {
		return answer{}, err
	}
	request, err := readMutation(w, r, a.bodies.createStream)
	if err != nil {
		return answer{}, err
	}
	if err := checkCreateStream(request, a.MaxShards); err != nil {
		return answer{}, err
	}
	created, err := a.Catalog.CreateStream(ctx, stream, request)
	created.ConsumerGroups = orEmpty(created.ConsumerGroups)
	return answer{http.StatusCreated, created}, err
}

func (a *api) createGroup(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	stream, group, err := a.groupOf(r)
	if err != nil {
		return answer{}, err
	}
	request, err := readMutation(w, r, a.bodies.createGroup)
	if err != nil {
		return answer{}, err
	}
	if err := checkCreateGroup(request, a.MaxShards); err != nil {
		return answer{}, err
	}
	created, err := a.Catalog.CreateGroup(ctx, stream, group, request)
	return answer{http.StatusCreated, completeGroup(created)}, err
}

func (a *api) deleteStream(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	stream, err := a.streamOf(r)
	if err != nil {
		return answer{}, err
	}
	request, err := readMutation(w, r, a.bodies.delete)
	if err != nil {
		return answer{}, err
	}
	if err := checkDelete(request); err != nil {
		return answer{}, err
	}
	deleted, err := a.Catalog.DeleteStream(ctx, stream, request)
	return answer{http.StatusOK, completeStream(deleted)}, err
}

func (a *api) deleteGroup(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	stream, group, err := a.groupOf(r)
	if err != nil {
		return answer{}, err
	}
	request, err := readMutation(w, r, a.bodies.delete)
	if err != nil {
		return answer{}, err
	}
	if err := checkDelete(request); err != nil {
		return answer{}, err
	}
	deleted, err := a.Catalog.DeleteGroup(ctx, stream, group, request)
	return answer{http.StatusOK, completeGroup(deleted)}, err
}

// readMutation decodes the body of a mutation.
func readMutation[T any](w http.ResponseWriter, r *http.Request, decoder *httpx.Decoder[T]) (T, error) {
	var none T
	if err := refuseDryRun(r.URL.RawQuery); err != nil {
		return none, err
	}
	body, err := httpx.ReadBody(w, r, maxAdminBody)
	if err != nil {
		return none, err
	}
	return decoder.Decode(body)
}

// refuseDryRun refuses a mutation that is asked for as a plan only (protocol L11), until
// there are plans to answer with: it must never change anything.
func refuseDryRun(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return invalid("query is not encoded as a URL asks")
	}
	for _, dry := range values["dryRun"] {
		if dry != "false" {
			return invalid("dryRun is not offered here")
		}
	}
	return nil
}
