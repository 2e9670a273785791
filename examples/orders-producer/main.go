// Command orders-producer publishes orders to a sharded stream, as an application would: it
// waits for the stream, publishes at a steady rate, says what it has done, and ends cleanly.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/examples/internal/orders"
	"github.com/redis-stream-coordinator/rsc/libs/process"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

const long = `Publishes orders to a sharded stream. The partition key is the customer, so that the
orders of one customer are in one shard, in their order.

  orders-producer                                          against "make run"
  orders-producer --orders-rate 200 --orders-stream orders
  RSC_CLIENT_PASSWORD=… orders-producer --client-url http://gateway:8080 --client-username worker

The stream is not made here: that is up to operators (rscctl streams create orders). Until
it is there the producer waits, and says so.`

// config holds the settings of a producer.
type config struct {
	Client orders.Client  `koanf:"client"`
	Orders place          `koanf:"orders"`
	Redis  settings.Redis `koanf:"redis"`
	Log    settings.Log   `koanf:"log"`
}

// place says what is published where.
type place struct {
	Stream string  `koanf:"stream" usage:"prefix of the stream's shard keys"`
	Group  string  `koanf:"group" usage:"consumer group whose routing is asked for"`
	Rate   float64 `koanf:"rate" usage:"orders a second"`
	MaxLen int     `koanf:"max-len" usage:"entries that a shard keeps, about; 0 keeps all"`
}

// most is the highest rate that one record at a time is fit for, in orders a second.
const most = 1000

// Validate reports every problem at once and names the keys.
func (c config) Validate() error {
	problems := []error{
		c.Client.Validate(), c.Redis.Validate(), c.Log.Validate(),
		orders.CheckPlace(c.Orders.Stream, c.Orders.Group),
	}
	if !(c.Orders.Rate > 0 && c.Orders.Rate <= most) {
		problems = append(problems, fmt.Errorf("orders.rate is %v, it must be above 0 and at most %d", c.Orders.Rate, most))
	}
	if c.Orders.MaxLen < 0 {
		problems = append(problems, errors.New("orders.max-len must not be negative"))
	}
	return errors.Join(problems...)
}

func defaults() config {
	return config{
		Client: orders.DefaultClient(),
		Orders: place{Stream: orders.DefaultStream, Group: orders.DefaultGroup, Rate: 20, MaxLen: 100_000},
		Redis:  settings.Redis{Host: "127.0.0.1", Port: 6379}, Log: settings.Log{Level: "info", Format: "text"},
	}
}

func main() { process.Main(os.Environ(), command) }

func command(streams process.Streams) *cobra.Command {
	return process.Service[config]{
		Name: "orders-producer", Short: "Publishes orders to a sharded stream", Long: long, Defaults: defaults(),
		Logger: func(cfg config, streams process.Streams) *slog.Logger {
			log := cfg.Log.Logger(streams.Err)
			redis.SetLogger(redisx.NewClientLog(log))
			return log
		},
		Serve: produce,
	}.Command(streams)
}
