package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

// maxShardText is how long the number of a shard may be.
const maxShardText = 10

// group shows one group: what is wrong, where, since when, and what can be done.
func (p *Pages) group(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	scene, err := p.groupScene(ctx, at)
	if err != nil {
		return p.groupFailed(ctx, r, who, at, err)
	}
	page := model.NewGroup(scene, groupQuery(r, at), Root)
	return answer{body: view.GroupPage(p.frame(r, who, at.stream+" / "+at.group, "overview"), page)}, nil
}

// groupAsked reads the names in a path. What cannot be a name is not there.
func groupAsked(r *http.Request) (room, error) {
	at := room{stream: pathValue(r, "stream"), group: pathValue(r, "group")}
	return at, checked(at)
}

// pathValue returns a part of the path, decoded once: the router has done so unless the path was
// written in a way of its own.
func pathValue(r *http.Request, name string) string {
	value := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return value
	}
	decoded, err := url.PathUnescape(value)
	if err != nil { // which the path, parsed before, cannot have
		return value
	}
	return decoded
}

// checked refuses names that no group can have.
func checked(at room) error {
	return noSuch(errors.Join(protocol.CheckStreamPrefix(at.stream, ""), protocol.CheckConsumerGroup(at.group)))
}

func noSuch(err error) error {
	if err == nil {
		return nil
	}
	return protocol.Errorf(protocol.CodeGroupNotFound, "no group can have this name").Because(err)
}

func groupQuery(r *http.Request, at room) model.GroupQuery {
	query := r.URL.Query()
	shard := query.Get("shard")
	return model.GroupQuery{
		Stream: at.stream, Group: at.group, Shard: shard[:min(len(shard), maxShardText)], Open: query.Get("open") != "",
		At: pageNumber(query.Get("at")), Members: pageNumber(query.Get("members")),
	}
}

// groupFailed says what can be done about a group whose metadata cannot be read (M6), and what
// its history tells, which is there all the same.
func (p *Pages) groupFailed(ctx context.Context, r *http.Request, who visitor, at room, err error) (answer, error) {
	refusal, is := errors.AsType[*protocol.Error](err)
	if !is || refusal.Code != protocol.CodeMetadataMissing && refusal.Code != protocol.CodeMetadataCorrupt {
		return answer{}, err
	}
	known := model.KindOfProblem(string(refusal.Code))
	trouble := view.Trouble{
		Status: protocol.FaultOf(refusal.Code).Status, Title: known.Title, Text: refusal.Message + ". " + known.Text, Advice: known.Advice, Code: string(refusal.Code),
	}
	var history model.Timeline
	if events, err := p.newestEvents(ctx, at, nil); err == nil {
		history = model.NewTimeline(events, false)
	}
	return answer{status: trouble.Status, body: view.GroupBroken(p.frame(r, who, trouble.Title, "overview"), trouble, history)}, nil
}

func (p *Pages) groupKept() kept {
	return kept{
		room: func(r *http.Request) room {
			query := r.URL.Query()
			return room{stream: query.Get("stream"), group: query.Get("group")}
		},
		allowed: func(ctx context.Context, at room) error {
			if err := checked(at); err != nil {
				return err
			}
			_, err := p.deps.API.Migrations(ctx, at.stream, at.group) // what costs least
			return err
		},
		details: p.groupDetails,
		fragments: func(_ context.Context, r *http.Request, scene *model.Scene) ([]fragment, error) {
			query := r.URL.Query()
			page := model.NewGroup(scene, groupQuery(r, room{stream: query.Get("stream"), group: query.Get("group")}), Root)
			switch {
			case page.Gone != "":
				return []fragment{{"head", view.GroupHead(page)}, {"problems", view.GroupProblems(page)}}, nil
			case page.Waiting || scene.Details == nil: // the page knows more than the first round tells
				return nil, nil
			}
			return []fragment{
				{"head", view.GroupHead(page)},
				{"problems", view.GroupProblems(page)},
				{"shardmap", view.GroupShards(page)},
				{"memberlist", view.GroupMembers(page)},
				{"timeline", view.GroupTimeline(page.Timeline)},
				{"changes", view.GroupChanges(page.Changes)},
			}, nil
		},
	}
}
