package app

import (
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/messages"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/mutations"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// staleRounds is after how many intervals without a round, and the time that one may take, the
// monitor is not ready.
const staleRounds = 6

// wire builds what serves requests.
func (a *App) wire() error {
	asked, err := newCoordinators(a.cfg.Monitor.Coordinator, client.Options{
		BasePath: a.cfg.API.BasePath, Logger: a.log, TracerProvider: a.tracing.Continuing(),
	}, a.log)
	if err != nil {
		return err
	}
	a.coordinators = asked
	a.board = &board{
		book: rates.NewBook(a.cfg.Observe.History), feed: httpapi.NewFeed(a.cfg.Monitor.MaxFollowers),
		stale: staleRounds*a.cfg.Observe.Interval + a.cfg.Observe.RoundTimeout,
	}
	a.observer = observe.New(observe.Config{
		Interval: a.cfg.Observe.Interval, StructureInterval: a.cfg.Observe.StructureInterval, RoundTimeout: a.cfg.Observe.RoundTimeout,
		MemoryEvery: a.cfg.Observe.MemoryEvery, ConsumersEvery: a.cfg.Observe.ConsumersEvery,
	}, observe.Deps{
		Redis: a.redis, Groups: asked, Now: clock.Now, Log: a.log, Publish: a.board.publish, Restructure: a.board.restructure,
	})
	a.handler = httpapi.New(httpapi.Config{
		BasePath: a.cfg.API.BasePath, KeyPrefix: a.cfg.Store.KeyPrefix, Build: settings.Build(),
		Process: settings.Process(protocol.ServiceMonitor, settings.Instance(protocol.ServiceMonitor), clock.Now(), a.cfg),
	}, httpapi.Deps{
		Source: a.board, Messages: reader{messages.NewReader(a.redis)}, Feed: a.board.feed, Health: a.board,
		Coordinator: asked,
		Mutations:   mutations.NewKept(mutations.NewReader(a.redis, a.cfg.Store.KeyPrefix), a.cfg.Observe.Interval, clock.Now),
		Guard:       httpapi.NewGuard(a.keys, a.cfg.API.Dev, clock.Now), Gate: a.gate, Tracing: a.tracing, Log: a.log,
	})
	return nil
}
