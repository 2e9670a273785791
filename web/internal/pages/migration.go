package pages

import (
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

type migrationAPI interface {
	Migrations(ctx context.Context, stream, group string) (*protocol.MigrationsResponse, error)
	Migration(ctx context.Context, stream, group, id string) (*protocol.Migration, error)
	PlanRollback(ctx context.Context, stream, group, id string, req protocol.RollbackRequest) (*protocol.Plan, error)
	ShardRows(ctx context.Context, stream, group string) ([]protocol.GrafanaShardRow, error)
}

// migrations lists the reshardings of a group's stream.
func (p *Pages) migrations(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	known, err := p.deps.API.Migrations(ctx, at.stream, at.group)
	if err != nil {
		return answer{}, err
	}
	page := model.NewMigrations(at.stream, at.group, *known, pageNumber(r.URL.Query().Get("at")), Root)
	frame := p.frame(r, who, "Reshardings of "+at.stream, "overview")
	frame.Done = model.MigrationDone(r.URL.Query().Get("done"))
	return answer{body: view.MigrationsPage(frame, page)}, nil
}

// migration shows how far one resharding has come, and what keeps it (L10).
func (p *Pages) migration(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	// What is remembered for all is not for who asks for the page: the API decides who may see it.
	seen, err := p.deps.API.Migration(ctx, at.stream, at.group, pathValue(r, "id"))
	if err != nil {
		return answer{}, noMigration(err)
	}
	page := model.NewMigration(*seen, migrationQuery(r, at), p.rowsFor(ctx, at, *seen), Root)
	frame := p.frame(r, who, "Resharding of "+at.stream, "overview")
	frame.Done = model.MigrationDone(r.URL.Query().Get("done"))
	return answer{body: view.MigrationPage(frame, page)}, nil
}

// noMigration says of an id that none can have that it is not there.
func noMigration(err error) error {
	if errors.Is(err, protocol.ErrInvalidName) {
		return protocol.Errorf(protocol.CodeMigrationNotFound, "no resharding can have this id").Because(err)
	}
	return err
}

func migrationQuery(r *http.Request, at room) model.MigrationQuery {
	return model.MigrationQuery{Stream: at.stream, Group: at.group, Page: pageNumber(r.URL.Query().Get("at"))}
}

// rowsFor returns what was observed of the shards where a resharding waits for reading; nil where
// nobody knows, as without a monitor.
func (p *Pages) rowsFor(ctx context.Context, at room, of protocol.Migration) map[int]protocol.GrafanaShardRow {
	if !model.Reading(of) {
		return nil
	}
	rows, err := p.deps.API.ShardRows(ctx, at.stream, at.group)
	if err != nil {
		p.deps.Log.DebugContext(ctx, "nothing is known of the shards' rates", "reason", err)
		return nil
	}
	byIndex := make(map[int]protocol.GrafanaShardRow, len(rows))
	for _, row := range rows {
		byIndex[row.ShardIndex] = row
	}
	return byIndex
}

func (p *Pages) migrationKept() kept {
	return kept{
		room:    roomAsked,
		allowed: p.mayLook,
		every:   lookEvery,
		fragments: func(ctx context.Context, r *http.Request, scene *model.Scene) ([]fragment, error) {
			at := roomAsked(r)
			seen, err := p.looks.look(ctx, watched{at, r.URL.Query().Get("id")}, p.deps.Now, p.deps.API)
			if err != nil { // what was shown stays, with a word on it
				return []fragment{{"migration-trouble", view.MigrationTrouble(troubleOf(err))}}, ctx.Err()
			}
			frame := p.frame(r, p.visitorOf(r), "", "")
			page := model.NewMigration(*seen, migrationQuery(r, at), scene.Shards, Root)
			return []fragment{
				{"migration-trouble", templ.NopComponent},
				{"migration-head", view.MigrationHead(frame, page)},
				{"migration-drains", view.MigrationDrains(frame, page)},
			}, nil
		},
	}
}

func roomAsked(r *http.Request) room {
	query := r.URL.Query()
	return room{stream: query.Get("stream"), group: query.Get("group")}
}

// mayLook asks the API whether the visitor may see a group.
func (p *Pages) mayLook(ctx context.Context, at room) error {
	if err := checked(at); err != nil {
		return err
	}
	_, err := p.deps.API.Migrations(ctx, at.stream, at.group)
	return err
}
