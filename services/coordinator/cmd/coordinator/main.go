// Command coordinator runs the group coordinator of sharded Redis streams.
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
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

const long = `Coordinates the consumers and producers of sharded Redis streams: which member of a group
reads which shard, and where producers write. Records never pass through it.

  coordinator --api-jwks-url http://gateway:8080/.well-known/jwks.json
  coordinator --dev                             alone, with a Redis on 127.0.0.1:6379
  coordinator --dev --store-type memory --provisioning-enabled=false
  coordinator --store-type postgres             the metadata in PostgreSQL, see --store-postgres-host
  coordinator --config /etc/rsc.yaml --print-config

Changes are taken through the admin gateway only: who has not the gateway's token is
answered 401 UNAUTHORIZED. --api-jwks-url says where the gateway's keys are; with --dev and
without keys everybody who reaches the port may change everything. What members ask for,
heartbeats and routing, is open unless --api-authenticate-member-api asks for a token too.`

func main() { process.Main(os.Environ(), command) }

func command(streams process.Streams) *cobra.Command {
	return process.Service[app.Config]{
		Name: "coordinator", Short: "Coordinates the consumers and producers of sharded Redis streams", Long: long,
		Defaults: app.DefaultConfig(), Ignore: app.OtherSections(), Aliases: map[string]string{"dev": "api-dev"},
		Listen: func(cfg app.Config) string { return cfg.Listen },
		Logger: func(cfg app.Config, streams process.Streams) *slog.Logger { return cfg.Log.Logger(streams.Err) },
		Serve:  serve,
	}.Command(streams)
}

func serve(ctx context.Context, cfg app.Config, _ func() (app.Config, error), log *slog.Logger) error {
	redis.SetLogger(redisx.NewClientLog(log))
	coordinator, err := app.New(ctx, cfg, app.Deps{Logger: log})
	switch {
	case errors.Is(err, app.ErrSettings):
		return process.WrongSettings(err)
	case err != nil:
		return err
	}
	return coordinator.Run(ctx)
}
