// Package peers lets the coordinators of one store know each other, so that a rolling update
// or its way back never leaves a record that one of them cannot read (storage, Versions).
//
// Each announces the newest schema of records that it reads, and the newest that it may have
// left in the store. A coordinator writes the newest schema that all read: the older one from
// its start on, the newer one after all have read that for one whole time of announcement. When
// an older coordinator comes, the newer ones write the older schema at once, write again what
// they find in the newer one, and say then that they are done; until that the older one is not
// ready for requests.
package peers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// withdrawTimeout bounds what an end waits for a store that may be the reason for it.
const withdrawTimeout = time.Second

// Config is what a coordinator says of itself, and how often.
type Config struct {
	// ID is this start of a coordinator.
	ID string
	// Oldest and Newest are the schemas that it reads and writes.
	Oldest, Newest int
	// TTL is how long an announcement holds; four are made in that time.
	TTL time.Duration
	// CallTimeout bounds one call of the store: a write that was on its way when the schema
	// changed has come to its end by then.
	CallTimeout time.Duration
}

// Rewrite brings all records down to a schema, and returns nil when none is newer. It may be
// repeated.
type Rewrite func(ctx context.Context, schema int) error

// Peers is safe for concurrent use.
type Peers struct {
	cfg      Config
	registry store.Registry
	rewrite  Rewrite
	log      *slog.Logger

	mu       sync.Mutex
	writes   int          // the schema that is written now
	since    time.Time    // when that changed
	left     int          // the newest schema that may be found in the store, as far as it is read here
	known    []store.Peer // who answered the last announcement, this one included
	agreed   time.Time    // since when all read Newest; zero when they do not
	answered time.Time    // when the store last took an announcement; zero for never
	readable bool         // no other may have left what cannot be read here
	fault    string       // what was last logged of a failure

	stop    context.CancelFunc
	stopped chan struct{}
}

// New returns peers that are not announced yet; see Announce and Start.
func New(cfg Config, registry store.Registry, rewrite Rewrite, log *slog.Logger) *Peers {
	return &Peers{cfg: cfg, registry: registry, rewrite: rewrite, log: log, writes: cfg.Oldest, since: clock.Now(), left: cfg.Newest}
}

// Schema is the schema to write records in now.
func (p *Peers) Schema() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

// Others returns the coordinators that were announced beside this one, when it last asked.
func (p *Peers) Others() []store.Peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	others := make([]store.Peer, 0, len(p.known))
	for _, peer := range p.known {
		if peer.ID != p.cfg.ID {
			others = append(others, peer)
		}
	}
	return others
}

// Ready tells why this coordinator should get no requests: nobody knows of it yet, or others
// may have left records that it cannot read. It is nil from when that is over; what comes later
// minds this coordinator.
func (p *Peers) Ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.readable:
		return nil
	case p.answered.IsZero():
		return errors.New("this coordinator is not announced to the others yet")
	}
	return fmt.Errorf("coordinators of a newer release still have to write their records as this one reads them (up to schema %d): %s",
		p.cfg.Newest, strings.Join(p.newer(), ", "))
}

// newer names those that may have left records which cannot be read here.
func (p *Peers) newer() []string {
	var names []string
	for _, peer := range p.known {
		if peer.Writes > p.cfg.Newest {
			names = append(names, fmt.Sprintf("%s (schema %d)", peer.ID, peer.Writes))
		}
	}
	return names
}

// Start announces this coordinator until Close.
func (p *Peers) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.stop, p.stopped = cancel, make(chan struct{})
	go p.run(ctx)
}

func (p *Peers) run(ctx context.Context) {
	defer close(p.stopped)
	ticker := clock.NewTicker(p.cfg.TTL / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.Announce(ctx)
		}
	}
}

// Close ends the announcements and withdraws the last, so that others need not wait for it to
// run out. Where the store does not answer they do.
func (p *Peers) Close(ctx context.Context) {
	p.mu.Lock()
	stop, stopped, announced := p.stop, p.stopped, !p.answered.IsZero()
	p.answered, p.readable = time.Time{}, false
	p.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
	if !announced {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, withdrawTimeout)
	defer cancel()
	if err := p.registry.Withdraw(ctx, p.cfg.ID); err != nil {
		p.log.Info("this coordinator stays announced to the others for a while", "atMost", p.cfg.TTL, "reason", err)
	}
}
