// Command smoke tries a running suite as its users do, and says step by step what works.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/process"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/smoke/internal/check"
)

const long = `Tries a running suite as its users do, a line for each step: a stream is made through the
gateway, records flow through the shards of another, its members share them, shards are
added and removed, the audit has it, Prometheus scrapes all parts, the console shows its
login. It stops at the first step that fails, and says where to look.

  docker compose run --rm smoke
  RSC_CLIENT_PASSWORD=… smoke --client-url http://localhost:8080 --client-username ops
  smoke --smoke-task prepare                    only make the stream, where there is none

The traffic is not its own: orders-producer and orders-consumer, or others, have to run.
It exits with 0 when all holds, 1 when a step failed, 2 when the settings are wrong.`

// farewell bounds what is done after a step has failed.
const farewell = 15 * time.Second

// The values of smoke.task.
const (
	taskCheck   = "check"
	taskPrepare = "prepare"
)

// settings of the tool.
type settings struct {
	Client access `koanf:"client"`
	Smoke  smoke  `koanf:"smoke"`
}

type access struct {
	URL      string        `koanf:"url" usage:"URL of the gateway"`
	Username string        `koanf:"username" usage:"user with the role WRITE; empty does not log in"`
	Password config.Secret `koanf:"password" usage:"password of client.username"`
}

type smoke struct {
	Task       string        `koanf:"task" usage:"check, or prepare, which makes the stream where there is none and checks nothing"`
	Stream     string        `koanf:"stream" usage:"stream with the traffic; its shard count changes on the way and is as before at the end"`
	Group      string        `koanf:"group" usage:"consumer group"`
	Shards     int           `koanf:"shards" usage:"shards of the stream where it is made"`
	Members    int           `koanf:"members" usage:"how many members should own shards, at least"`
	Prometheus string        `koanf:"prometheus" usage:"URL of Prometheus, empty leaves its step out"`
	Jobs       []string      `koanf:"jobs" usage:"jobs of Prometheus whose targets have to be up"`
	Grafana    string        `koanf:"grafana" usage:"URL of Grafana, empty leaves its step out"`
	Timeout    time.Duration `koanf:"timeout" usage:"how long all steps may take together"`
}

// Validate reports every problem at once and names the keys.
func (s settings) Validate() error {
	var problems []error
	if s.Smoke.Task != taskCheck && s.Smoke.Task != taskPrepare {
		problems = append(problems, fmt.Errorf("smoke.task is %q, it must be %s or %s", s.Smoke.Task, taskCheck, taskPrepare))
	}
	if err := protocol.CheckStreamPrefix(s.Smoke.Stream, ""); err != nil {
		problems = append(problems, fmt.Errorf("smoke.stream: %w", err))
	}
	if err := protocol.CheckConsumerGroup(s.Smoke.Group); err != nil {
		problems = append(problems, fmt.Errorf("smoke.group: %w", err))
	}
	if s.Smoke.Shards < 1 || s.Smoke.Members < 1 || s.Smoke.Timeout <= 0 {
		problems = append(problems, errors.New("smoke.shards, smoke.members and smoke.timeout must be above 0"))
	}
	for key, address := range map[string]string{
		"client.url": s.Client.URL, "smoke.prometheus": s.Smoke.Prometheus, "smoke.grafana": s.Smoke.Grafana,
	} {
		problems = append(problems, absolute(key, address))
	}
	return errors.Join(problems...)
}

// absolute checks an address, which may be empty.
func absolute(key, address string) error {
	at, err := url.Parse(address)
	if address == "" && key != "client.url" || err == nil && at.Host != "" && strings.HasPrefix(at.Scheme, "http") {
		return nil
	}
	return fmt.Errorf("%s is no absolute http or https URL, for example http://localhost:8080", key)
}

func defaults() settings {
	return settings{
		Client: access{URL: "http://127.0.0.1:8080"},
		Smoke: smoke{
			Task: taskCheck, Stream: "orders", Group: "orders-consumer", Shards: 4, Members: 2, Timeout: 5 * time.Minute,
			Jobs: []string{"rsc-coordinator", "rsc-gateway", "rsc-monitor", "rsc-web"},
		},
	}
}

func main() { process.Main(os.Environ(), command) }

func command(streams process.Streams) *cobra.Command {
	return process.Service[settings]{
		Name: "smoke", Short: "Tries a running suite as its users do", Long: long, Defaults: defaults(),
		Logger: func(settings, process.Streams) *slog.Logger { return slog.New(slog.NewTextHandler(streams.Err, nil)) },
		Serve: func(ctx context.Context, s settings, _ func() (settings, error), _ *slog.Logger) error {
			return try(ctx, s, streams.Out)
		},
	}.Command(streams)
}

// try runs the task and returns the step that failed.
func try(ctx context.Context, s settings, out io.Writer) error {
	options := client.Options{CoordinatorURL: s.Client.URL}
	if s.Client.Username != "" {
		options.Login = client.WithLogin(s.Client.Username, s.Client.Password.Reveal())
	}
	c, err := client.New(options)
	if err != nil {
		return process.WrongSettings(err)
	}
	defer func() { _ = c.Close() }()
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	suite := &check.Suite{
		Gateway: strings.TrimSuffix(s.Client.URL, "/"), Admin: c.Admin(), HTTP: web, Jobs: s.Smoke.Jobs,
		Prometheus: strings.TrimSuffix(s.Smoke.Prometheus, "/"), Grafana: strings.TrimSuffix(s.Smoke.Grafana, "/"),
		Stream: s.Smoke.Stream, Group: s.Smoke.Group, Shards: s.Smoke.Shards, Members: s.Smoke.Members,
		Trial: "smoke-" + strings.ToLower(ulid.Make().String()),
	}
	steps := suite.Steps()
	if s.Smoke.Task == taskPrepare {
		steps = suite.Prepare()
	}
	return errors.Join(run(ctx, s.Smoke.Timeout, out, steps), leave(ctx, suite))
}

// run does the steps within the time.
func run(ctx context.Context, within time.Duration, out io.Writer, steps []check.Step) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return check.Run(ctx, out, steps)
}

// leave takes back what a failed run has made, also when ctx has ended.
func leave(ctx context.Context, suite *check.Suite) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	return suite.Leave(ctx)
}
