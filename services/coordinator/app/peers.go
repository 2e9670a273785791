package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/peers"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// minAnnouncement is the shortest time that a coordinator stays known to the others; leases may
// be shorter.
const minAnnouncement = 10 * time.Second

// errNotAlone comes when the settings are for a single coordinator and there is another one.
var errNotAlone = errors.New("coordination.state-mutex.enabled is false, which is right only for a single coordinator")

// recorded sets a.peers, and lets the loop and the records of streams write the schema that all
// coordinators read (storage, Versions).
func (a *App) recorded(kept store.Archive) records.Records {
	var lower peers.Rewrite
	a.peers = peers.New(peers.Config{
		ID: a.id, Oldest: codec.MinSchema, Newest: codec.Schema,
		TTL: max(a.cfg.Coordination.MemberLeaseTTL, minAnnouncement), CallTimeout: storeTimeout,
	}, kept, func(ctx context.Context, schema int) error { return lower(ctx, schema) }, a.log)
	decided := records.Records{
		Store: kept, Nonce: nonce, LeaseTTL: a.cfg.Coordination.StateMutex.ttl(), Schema: a.peers.Schema, Log: a.log,
	}
	lower = peers.Lower(kept, decided, a.loop)
	a.loop.Write(a.peers.Schema)
	return decided
}

// announce tells the other coordinators of this one, and refuses to be one of several where the
// settings are for a single one. A store that does not answer is no error: it is asked again.
func (a *App) announce(ctx context.Context) error {
	first, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	a.peers.Announce(first)
	others := a.peers.Others()
	if a.cfg.Coordination.StateMutex.Enabled || len(others) == 0 {
		return nil
	}
	names := make([]string, 0, len(others))
	for _, other := range others {
		names = append(names, other.ID)
	}
	return fmt.Errorf("%w, and others serve the same store: %s; enable it, or stop them (one that died is forgotten after %v)",
		errNotAlone, strings.Join(names, ", "), max(a.cfg.Coordination.MemberLeaseTTL, minAnnouncement))
}
