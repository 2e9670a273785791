package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/catalog"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/metrics"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/reshard"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

const (
	// storeTimeout bounds one call to the store, callTimeout an answer of the API.
	storeTimeout = 4 * time.Second
	callTimeout  = 5 * time.Second
	// probeTimeout bounds what start-up and health ask.
	probeTimeout = time.Second
)

// nonce returns a fresh random name: tokens, lineages and the like.
func nonce() string { return ulid.Make().String() }

// connect sets a.redis where the settings use one.
func (a *App) connect(deps Deps) error {
	switch {
	case !a.cfg.usesRedis():
		return nil
	case deps.Redis != nil:
		a.redis = deps.Redis
		return nil
	}
	client, err := a.cfg.Redis.Dial("rsc-coordinator")
	if err != nil {
		return err
	}
	a.redis, a.ownsRedis = client, true
	return nil
}

// openStore returns the store that the settings name.
func (a *App) openStore(ctx context.Context) (store.Archive, error) {
	switch {
	case a.cfg.Store.Type == StoreMemory:
		a.log.Warn("metadata is kept in memory and lost when this process ends")
		return memstore.New(memoryClock()), nil
	case a.cfg.Store.inPostgres():
		return a.openPostgres(ctx)
	}
	opened, err := redisstore.New(a.redis, redisstore.Options{
		KeyPrefix: a.cfg.Store.KeyPrefix, LeaseWait: a.cfg.Coordination.StateMutex.acquireTimeout(),
		WaitReplicas: redisstore.WaitReplicas(a.cfg.Store.Redis.WaitReplicas),
	})
	if err != nil {
		return nil, fmt.Errorf("store.type redis: %w", err)
	}
	probe, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	switch ability, err := opened.Probe(probe); {
	case err != nil:
		a.log.Warn("Redis does not answer yet; requests are refused until it does", "error", err)
	case ability.Identity == store.IdentityUnknown:
		a.log.Warn("Redis refuses INFO in scripts: that it went back in time is noticed by members only (protocol M1)")
	}
	return opened, nil
}

// memoryClock is a clock that never steps: the wall clock at its making, and what has
// passed since.
func memoryClock() func() store.Millis {
	start := clock.Now()
	return func() store.Millis { return store.Millis(start.Add(clock.Since(start)).UnixMilli()) }
}

// wire builds what serves requests from the store upwards.
func (a *App) wire(kept store.Archive) {
	counted := metrics.New(a.registry, a.id)
	kept = counted.Store(kept)
	a.loop = loop.New(a.cfg.loop(), kept, nonce, a.log)
	a.loop.Measure(counted)
	decided := a.recorded(kept)
	reshardings := a.reshardings(decided)
	var shards catalog.Shards
	if a.cfg.Provisioning.Enabled {
		shards = provision.NewShards(a.redis, a.cfg.Store.KeyPrefix, a.log)
	}
	settings := catalog.DefaultConfig()
	settings.Group = a.cfg.group()
	settings.InitialShards = a.cfg.Defaults.InitialShardCount
	settings.RoutingLease = a.cfg.Coordination.RoutingLease
	settings.LeaseTTL = a.cfg.Coordination.StateMutex.ttl()
	settings.Schema = a.peers.Schema
	streams := catalog.New(settings, kept, a.loop, shards, nonce, a.log)
	a.health = &health{app: a, store: kept, permissions: a.permissions()}
	metrics.Watch(a.registry, a.id, a.health.state)
	a.handler = httpapi.New(httpapi.Config{
		BasePath:    a.cfg.API.BasePath,
		MaxShards:   a.cfg.Limits.MaxShards,
		KeyPrefix:   a.cfg.Store.KeyPrefix,
		Timing:      a.cfg.timing(),
		Build:       Build(),
		Process:     a.process(),
		CallTimeout: callTimeout,
	}, httpapi.Deps{
		Heartbeats: a.loop, Catalog: counted.Catalog(streams), Views: counted.Views(streams), History: streams, Health: a.health, Gate: a.gate, Log: a.log,
		Reshardings: counted.Reshardings(reshardings), Plans: plans{streams, reshardings}, Repairs: streams, Guard: a.guard(),
		StaleRouting: counted.StaleRouting, Tracing: a.tracing,
	})
}

// reshardings returns the service for shard counts, and sets the driver that carries out
// what it decides. Without provisioning there is no driver, and the service refuses.
func (a *App) reshardings(decided records.Records) *reshard.Service {
	settings := a.cfg.reshard()
	if !a.cfg.Provisioning.Enabled {
		return reshard.NewService(settings, decided, a.loop, nil, nil, nonce)
	}
	shards := provision.NewShards(a.redis, a.cfg.Store.KeyPrefix, a.log)
	a.driver = reshard.NewDriver(settings, decided, a.loop, shards, a.log)
	a.loop.Attend(a.driver.Attend)
	return reshard.NewService(settings, decided, a.loop, shards, a.driver, nonce)
}

// plans are those of the two layers that change streams.
type plans struct {
	*catalog.Catalog
	*reshard.Service
}

func (c Config) timing() httpapi.Timing {
	return httpapi.Timing{
		HeartbeatInterval: c.Coordination.HeartbeatInterval,
		MemberLease:       c.Coordination.MemberLeaseTTL,
		RebalanceTimeout:  c.Coordination.RebalanceTimeout,
	}
}

// orDiscard returns a logger also where none was given.
func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}
