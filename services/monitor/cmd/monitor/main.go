// Command monitor observes the shards of streams and their groups, and serves what it sees.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/process"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/app"
)

const long = `Looks at all streams, groups and members every few seconds, and tells how much is
produced, consumed and left: to the gateway, for operators and dashboards, and to Prometheus
on a port of its own. It changes nothing of them.

  monitor --api-jwks-url http://gateway:8080/.well-known/jwks.json
  monitor --dev                                 alone, with a Redis and a coordinator on this machine
  monitor --config /etc/rsc.yaml --print-config

The gateway's token is asked for, as records are somebody's data: who has none is answered
401 UNAUTHORIZED. --api-jwks-url says where the gateway's keys are; with --dev and without keys
everybody who reaches the port may read.`

func main() { process.Main(os.Environ(), command) }

func command(streams process.Streams) *cobra.Command {
	return process.Service[app.Config]{
		Name: "monitor", Short: "Observes sharded Redis streams and their groups", Long: long,
		Defaults: app.DefaultConfig(), Ignore: app.OtherSections(), Aliases: map[string]string{"dev": "api-dev"},
		Listen: func(cfg app.Config) string { return cfg.Monitor.Listen },
		Logger: func(cfg app.Config, streams process.Streams) *slog.Logger { return cfg.Log.Logger(streams.Err) },
		Serve:  serve,
	}.Command(streams)
}

func serve(ctx context.Context, cfg app.Config, _ func() (app.Config, error), log *slog.Logger) error {
	redis.SetLogger(redisx.NewClientLog(log))
	monitor, err := app.New(ctx, cfg, app.Deps{Logger: log})
	switch {
	case errors.Is(err, app.ErrSettings):
		return process.WrongSettings(err)
	case err != nil:
		return err
	}
	return monitor.Run(ctx)
}
