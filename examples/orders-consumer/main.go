// Command orders-consumer handles the orders of a sharded stream, as an application would:
// several of them share the shards, and each ends cleanly.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/examples/internal/orders"
	"github.com/redis-stream-coordinator/rsc/libs/process"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

const long = `Handles the orders of a sharded stream. Start as many as you like: the coordinator shares
the shards among them, and gives those of one that ends, or dies, to the others.

  orders-consumer --orders-member c1                       against "make run"
  orders-consumer --orders-member c2 --orders-concurrency 2
  RSC_CLIENT_PASSWORD=… orders-consumer --client-url http://gateway:8080 --client-username worker

A record is acknowledged when it has been handled. What cannot be read as an order goes to
a dead letter stream after some deliveries, <stream>-dead. Until the group is there the
consumer waits, and says so.`

// config holds the settings of a consumer.
type config struct {
	Client orders.Client  `koanf:"client"`
	Orders place          `koanf:"orders"`
	Redis  settings.Redis `koanf:"redis"`
	Log    settings.Log   `koanf:"log"`
}

// place says what is read, and how.
type place struct {
	Stream      string        `koanf:"stream" usage:"prefix of the stream's shard keys"`
	Group       string        `koanf:"group" usage:"consumer group"`
	Member      string        `koanf:"member" usage:"name of this process in the group, its own; empty takes the host's"`
	Concurrency int           `koanf:"concurrency" usage:"members that this process is to the group, each with shards of its own"`
	Work        time.Duration `koanf:"work" usage:"how long an order takes, to look like work; 0 is none"`
}

// mostMembers bounds orders.concurrency.
const mostMembers = 64

// Validate reports every problem at once and names the keys.
func (c config) Validate() error {
	problems := []error{
		c.Client.Validate(), c.Redis.Validate(), c.Log.Validate(),
		orders.CheckPlace(c.Orders.Stream, c.Orders.Group),
	}
	if c.Orders.Concurrency < 1 || c.Orders.Concurrency > mostMembers {
		problems = append(problems, fmt.Errorf("orders.concurrency is %d, it must be 1 to %d", c.Orders.Concurrency, mostMembers))
	}
	if c.Orders.Work < 0 {
		problems = append(problems, errors.New("orders.work must not be negative"))
	}
	return errors.Join(problems...)
}

func defaults() config {
	return config{
		Client: orders.DefaultClient(),
		Orders: place{Stream: orders.DefaultStream, Group: orders.DefaultGroup, Concurrency: 1},
		Redis:  settings.Redis{Host: "127.0.0.1", Port: 6379}, Log: settings.Log{Level: "info", Format: "text"},
	}
}

func main() { process.Main(os.Environ(), command) }

func command(streams process.Streams) *cobra.Command {
	return process.Service[config]{
		Name: "orders-consumer", Short: "Handles the orders of a sharded stream", Long: long, Defaults: defaults(),
		Logger: func(cfg config, streams process.Streams) *slog.Logger {
			log := cfg.Log.Logger(streams.Err)
			redis.SetLogger(redisx.NewClientLog(log))
			return log
		},
		Serve: consume,
	}.Command(streams)
}
