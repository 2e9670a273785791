package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// A user of the gateway. The client keeps a token that is good, also while consumers run.
func ExampleWithLogin() {
	c, err := client.New(client.Options{
		CoordinatorURL: "https://gateway.example.com", Login: client.WithLogin("ops", "secret"),
	})
	if err != nil {
		fmt.Println("no client:", err)
		return
	}
	defer func() { _ = c.Close() }()

	streams, err := c.Admin().Streams(context.Background())
	var login *client.LoginError
	switch {
	case err == nil:
		fmt.Println("streams:", len(streams))
	case errors.As(err, &login):
		fmt.Println("cannot log in:", login) // names the URL and the next step
	case errors.Is(err, client.ErrForbidden):
		fmt.Println("ops lacks the role:", err)
	case errors.Is(err, client.ErrRateLimited):
		pause, _ := client.RetryAfter(err)
		fmt.Println("too many requests; again in", pause)
	default:
		fmt.Println("refused:", err)
	}
}
