// Package trial runs a replay from beginning to end: it creates the stream, starts the
// consumers, publishes, kills and adds consumers when asked to, waits until everything is
// handled, and has the ledgers checked.
package trial

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/feed"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/proof"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// stopBudget is how long consumers may take to leave before they are killed: their
// DrainTimeout, the time to tell the coordinator, and some slack.
const stopBudget = 30 * time.Second

// Trial is one replay. All fields but Rate, Kills, Joins, Keep and Show are required.
type Trial struct {
	Client *client.Client
	Redis  redis.UniversalClient
	Log    *slog.Logger

	// Source has so many Records.
	Source  source.Source
	Records int64
	// Stream and Group are created with so many Shards; the stream must not exist.
	Stream, Group string
	Shards        int
	// Consumers is how many of the Crew there are at the beginning.
	Consumers int
	Crew      Crew
	// Kills of them are killed during the replay, each replaced at once, and Joins more are
	// added.
	Kills, Joins int
	// PublishBatch and Rate are those of feed.Feed.
	PublishBatch, Rate int
	// Ledgers is the directory for the ledgers. It holds no others.
	Ledgers string
	// Keep leaves the stream where it is.
	Keep bool
	// Show is told ten times a second how far the replay is.
	Show func(Progress)
}

// Run carries the replay out. It returns the report also when something failed on the way,
// as far as there are ledgers. Ending ctx ends the replay in good order.
func (t *Trial) Run(ctx context.Context) (report *proof.Report, err error) {
	if err := Create(ctx, t.Client, t.Stream, t.Group, t.Shards); err != nil {
		return nil, err
	}
	defer func() {
		if failed := t.remove(context.WithoutCancel(ctx)); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	err = t.replay(ctx)
	files, failed := ledger.ReadDir(t.Ledgers)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	return proof.Check(files, proof.Replay{Records: t.Records}), err
}

// replay publishes and consumes until everything is handled and settled.
func (t *Trial) replay(ctx context.Context) error {
	team := newTeam(t)
	defer team.dismiss()
	for range t.Consumers {
		if err := team.hire(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	fed := make(chan error, 1)
	var feeding sync.WaitGroup
	feeding.Go(func() { fed <- t.feed(ctx) })
	defer feeding.Wait()
	defer cancel()
	return t.watch(ctx, team, fed)
}

// feed publishes the source.
func (t *Trial) feed(ctx context.Context) error {
	f := feed.Feed{Log: t.Log, Batch: t.PublishBatch, Rate: t.Rate, Pause: feed.RepeatPause}
	to := feed.Target{
		Client: t.Client, Stream: t.Stream, Group: t.Group, Name: "publisher",
		Ledger: filepath.Join(t.Ledgers, "publisher"+ledger.Extension),
	}
	_, err := f.Into(ctx, to, t.Source.Records())
	return err
}
