// Command console serves the web console, for operators, behind the gateway.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/process"
	"github.com/redis-stream-coordinator/rsc/web/app"
)

const long = `Serves the pages of the console: what is wrong with which stream or group, where and
since when, and what can be done. Browsers reach it through the gateway, at /console of the
gateway's address, which also logs them in.

  console --web-gateway http://gateway:8080
  console --config /etc/rsc.yaml --print-config

The gateway has to know where it is: gateway.web is its URL, for example http://console:8083.
What is asked without the gateway's token is answered as for somebody who has not logged in.`

func main() { process.Main(os.Environ(), command) }

func command(streams process.Streams) *cobra.Command {
	return process.Service[app.Config]{
		Name: "console", Short: "Serves the web console of the suite", Long: long,
		Defaults: app.DefaultConfig(), Ignore: app.OtherSections(),
		Listen: func(cfg app.Config) string { return cfg.Web.Listen },
		Logger: func(cfg app.Config, streams process.Streams) *slog.Logger { return cfg.Log.Logger(streams.Err) },
		Serve:  serve,
	}.Command(streams)
}

func serve(ctx context.Context, cfg app.Config, _ func() (app.Config, error), log *slog.Logger) error {
	console, err := app.New(ctx, cfg, app.Deps{Logger: log})
	switch {
	case errors.Is(err, app.ErrSettings):
		return process.WrongSettings(err)
	case err != nil:
		return err
	}
	return console.Run(ctx)
}
