package orders

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/process"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// The stream and the group of the examples.
const (
	DefaultStream = "orders"
	DefaultGroup  = "orders-consumer"
)

// Client says where the coordinator is, and who asks it.
type Client struct {
	URL      string        `koanf:"url" usage:"URL of the gateway, or of a coordinator"`
	Username string        `koanf:"username" usage:"user of the gateway with the role MEMBER; empty does not log in"`
	Password config.Secret `koanf:"password" usage:"password of client.username"`
}

// Validate reports every problem of the section and names the keys.
func (c Client) Validate() error {
	if (c.Username == "") != (c.Password == "") {
		return errors.New("client.username and client.password go together, one of them is missing")
	}
	return nil
}

// CheckPlace reports every problem of the settings orders.stream and orders.group.
func CheckPlace(stream, group string) error {
	var problems []error
	if err := protocol.CheckStreamPrefix(stream, ""); err != nil {
		problems = append(problems, fmt.Errorf("orders.stream: %w", err))
	}
	if err := protocol.CheckConsumerGroup(group); err != nil {
		problems = append(problems, fmt.Errorf("orders.group: %w", err))
	}
	return errors.Join(problems...)
}

// DefaultClient asks the gateway of this machine, without a login.
func DefaultClient() Client { return Client{URL: "http://127.0.0.1:8080"} }

// Connection is the client and the Redis behind it, which belong together.
type Connection struct {
	*client.Client
	redis redis.UniversalClient
}

// Connect makes the clients, which do not connect yet. Close ends them.
func Connect(name string, at Client, where settings.Redis, log *slog.Logger) (*Connection, error) {
	rdb, err := where.Dial(name)
	if err != nil {
		return nil, process.WrongSettings(err)
	}
	options := client.Options{CoordinatorURL: at.URL, Redis: rdb, Logger: log}
	if at.Username != "" {
		options.Login = client.WithLogin(at.Username, at.Password.Reveal())
	}
	c, err := client.New(options)
	if err != nil {
		return nil, process.WrongSettings(errors.Join(fmt.Errorf("client.url: %w", err), rdb.Close()))
	}
	return &Connection{Client: c, redis: rdb}, nil
}

// Close ends both clients, in the order that the SDK asks for.
func (c *Connection) Close() error { return errors.Join(c.Client.Close(), c.redis.Close()) }
