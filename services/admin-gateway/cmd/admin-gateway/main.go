// Command admin-gateway is the guarded door to the suite: login, roles, limits, audit, and a
// proxy to the coordinators.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/process"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
)

const long = `The guarded door to the suite: it logs users in, checks their roles, limits and records what
they change, and sends what is let through to the coordinators. Records never pass through it.

  admin-gateway --dev                                       admin/password, one coordinator on :8081
  admin-gateway --gateway-coordinators http://a:8081,http://b:8081
  admin-gateway --config /etc/rsc.yaml --print-config

Outside of development it needs users with hashed passwords (rscctl hash-password) and a
token secret of 32 bytes or more, and refuses to start without:

  coordinator:
    api:
      token-secret: ${TOKEN_SECRET}
      users:
        - {username: ops, password-hash: "$argon2id$…", roles: [WRITE]}
        - {username: grafana, password-hash: "$argon2id$…", roles: [READ], scopes: ["orders*"]}

SIGHUP reads the users again: who is no longer there may do nothing from then on, whatever
token they hold. Other settings need a restart.`

func main() { process.Main(os.Environ(), command) }

func command(streams process.Streams) *cobra.Command {
	return process.Service[app.Config]{
		Name: "admin-gateway", Short: "The guarded door to the suite", Long: long,
		Defaults: app.DefaultConfig(), Ignore: app.OtherSections(), Aliases: map[string]string{"dev": "api-dev"},
		Listen: func(cfg app.Config) string { return cfg.Gateway.Listen },
		Logger: func(cfg app.Config, streams process.Streams) *slog.Logger { return cfg.Log.Logger(streams.Err) },
		Serve: func(ctx context.Context, cfg app.Config, load func() (app.Config, error), log *slog.Logger) error {
			return serve(ctx, cfg, load, app.Deps{Logger: log, AuditOut: streams.Out})
		},
	}.Command(streams)
}

func serve(ctx context.Context, cfg app.Config, load func() (app.Config, error), deps app.Deps) error {
	redis.SetLogger(redisx.NewClientLog(deps.Logger))
	gateway, err := app.New(ctx, cfg, deps)
	if err != nil {
		return err
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	reloading, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-reloading.Done():
				return
			case <-hangups:
				gateway.Reload(load)
			}
		}
	}()
	err = gateway.Run(ctx)
	stop()
	<-done
	return err
}
