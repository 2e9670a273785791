// Package app runs the suite in one process: the gateway, a coordinator, a monitor and the web
// console behind it, its own Redis where none is given, and traffic to look at. Another program
// may run it too.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/standalone/internal/demo"
	"github.com/redis-stream-coordinator/rsc/services/standalone/internal/embedded"
)

// pingTimeout bounds the first question to a Redis that was given.
const pingTimeout = 3 * time.Second

// ErrFault comes from Run when the demo has seen a broken promise.
var ErrFault = demo.ErrFault

// errRedisEnded comes from Run when the Redis that it brought has ended by itself.
var errRedisEnded = errors.New("the embedded Redis has ended")

// Options say what to run.
type Options struct {
	Settings Settings
	// Demo runs traffic; without it the process serves until ctx ends.
	Demo bool
	// DemoFor ends the demo and the process after so long; 0 runs until ctx ends.
	DemoFor time.Duration
	// DemoCycle is the time from one leave of the demo's third consumer to the next.
	DemoCycle time.Duration
	// MetricsAddr is where the metrics of all parts are served, as host:port; empty has none. An
	// address in use is said, and nothing else.
	MetricsAddr string
	// Started is when the process started; the zero value is now.
	Started time.Time
	// Out takes what is for people, Log the rest.
	Out io.Writer
	Log *slog.Logger
}

// Run starts everything and returns when ctx has ended, or the demo, and everything has
// stopped. ErrFault tells that the demo has found a broken promise.
func Run(ctx context.Context, o Options) (err error) {
	if o.Started.IsZero() {
		o.Started = clock.Now()
	}
	if o.Settings.bringsRedis() {
		own, err := embedded.Start(ctx)
		if err != nil {
			return fmt.Errorf("bring a Redis along: %w", err)
		}
		introduce(o.Out, own)
		defer func() { err = errors.Join(err, own.Close()) }()
		o.Settings = o.Settings.WithRedis("redis://" + own.Address)
		var gone context.CancelCauseFunc
		ctx, gone = context.WithCancelCause(ctx)
		defer gone(nil)
		go func() {
			<-own.Ended()
			gone(errRedisEnded)
		}()
	}
	err = runOn(ctx, o)
	if errors.Is(context.Cause(ctx), errRedisEnded) {
		err = errors.Join(errRedisEnded, err)
	}
	return err
}

func introduce(out io.Writer, own *embedded.Redis) {
	fmt.Fprintf(out, "standalone: Redis is %s\n", own.About)
	for _, limit := range own.Limits {
		fmt.Fprintf(out, "standalone:   %s\n", limit)
	}
}

// runOn runs the rest on the Redis of the settings.
func runOn(ctx context.Context, o Options) error {
	o, demoLogin, err := withDemoUser(o)
	if err != nil {
		return err
	}
	rdb, err := dial(ctx, o.Settings)
	if err != nil {
		return err
	}
	defer func() { _ = rdb.Close() }()
	serving, err := serve(ctx, o, rdb)
	if err != nil {
		return err
	}
	if !o.Demo {
		fmt.Fprintln(o.Out, "standalone: no demo; Ctrl-C ends it")
		select {
		case <-ctx.Done():
		case <-serving.ended():
		}
		return serving.stop(ctx)
	}
	return errors.Join(runDemo(ctx, o, serving.gateway.url, rdb, demoLogin), serving.stop(ctx))
}

// dial connects to Redis and sees that it answers.
func dial(ctx context.Context, settings Settings) (redis.UniversalClient, error) {
	options, err := settings.resolved().Coordinator.Redis.Options("rsc-standalone")
	if err != nil {
		return nil, err
	}
	rdb, err := redisx.New(options)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := rdb.Ping(ctx).Err(); err != nil {
		_ = rdb.Close()
		return nil, fmt.Errorf("no answer from Redis (%s): %w; start it, or leave --redis and RSC_REDIS_* out to run with an embedded one",
			redisx.StateOf(err), err)
	}
	return rdb, nil
}

// runDemo runs the demo until ctx or its time ends.
func runDemo(ctx context.Context, o Options, url string, rdb redis.UniversalClient, login *client.Login) error {
	sdk, err := client.New(client.Options{
		CoordinatorURL: url, BasePath: o.Settings.Gateway.API.BasePath, Redis: rdb, Logger: o.Log, Login: login,
	})
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { _ = sdk.Close() }()
	if o.DemoFor > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.DemoFor)
		defer cancel()
	}
	return demo.New(demo.Options{
		Client: sdk, Out: o.Out, Cycle: o.DemoCycle, Started: o.Started, Log: o.Log,
	}).Run(ctx)
}
