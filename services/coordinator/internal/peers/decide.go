package peers

import (
	"context"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Announce tells the others of this coordinator once, and does what their answer asks for. It
// runs by itself after Start.
func (p *Peers) Announce(ctx context.Context) {
	known, err := p.call(ctx)
	if err != nil {
		p.failed(err)
		return
	}
	if p.heard(known) {
		p.lower(ctx)
	}
}

// call announces what is so at this moment.
func (p *Peers) call(ctx context.Context) ([]store.Peer, error) {
	p.mu.Lock()
	self := store.Peer{ID: p.cfg.ID, Reads: p.cfg.Newest, Writes: p.left}
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, p.cfg.CallTimeout)
	defer cancel()
	return p.registry.Announce(ctx, self, p.cfg.TTL)
}

// failed notes that the store did not take an announcement. After one that has run out the
// others know nothing of this coordinator, nor it of them: it writes what all read.
func (p *Peers) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text := err.Error(); text != p.fault {
		p.log.Warn("coordinator cannot be announced to the others, trying again", "error", err)
		p.fault = text
	}
	if clock.Since(p.answered) >= p.cfg.TTL {
		p.agreed = time.Time{}
		p.set(p.cfg.Oldest)
	}
}

// heard decides which schema is written from now on. It tells whether records of a newer one
// may be in the store.
func (p *Peers) heard(known []store.Peer) (newer bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := clock.Now()
	if now.Sub(p.answered) >= p.cfg.TTL { // others may have come and gone, and nobody knew of this one
		p.agreed, p.readable = time.Time{}, false
	}
	p.known, p.answered, p.fault = known, now, ""
	p.readable = p.readable || len(p.newer()) == 0
	common := p.common(known)
	switch {
	case common < p.cfg.Newest:
		p.agreed = time.Time{}
		p.set(common)
	case p.agreed.IsZero():
		p.agreed = now
	case now.Sub(p.agreed) >= p.cfg.TTL:
		p.set(common)
	}
	return common < p.left
}

// common is the newest schema that all read, within what this coordinator writes.
func (p *Peers) common(known []store.Peer) int {
	lowest := p.cfg.Newest
	for _, peer := range known {
		lowest = min(lowest, peer.Reads)
	}
	return max(lowest, p.cfg.Oldest)
}

// set changes the schema that is written.
func (p *Peers) set(schema int) {
	if schema == p.writes {
		return
	}
	p.log.Info("records are written in another schema from now on, which all coordinators read", "schema", schema, "before", p.writes)
	p.writes, p.since = schema, clock.Now()
	p.left = max(p.left, schema)
}

// lower writes again what is newer than all coordinators read, and announces that it is done.
// What it could not do is tried again with the next announcement, and so is all of it while a
// write of the newer schema may still be on its way.
func (p *Peers) lower(ctx context.Context) {
	p.mu.Lock()
	schema, quiet := p.writes, clock.Since(p.since) >= p.cfg.CallTimeout
	p.mu.Unlock()
	if err := p.rewrite(ctx, schema); err != nil {
		p.log.Warn("not all records are written in the schema that all coordinators read, trying again", "schema", schema, "error", err)
		return
	}
	if !quiet {
		return
	}
	p.mu.Lock()
	p.left = schema
	p.mu.Unlock()
	if _, err := p.call(ctx); err != nil {
		p.failed(err)
	}
}
