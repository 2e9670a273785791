package app

import (
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
)

// demoUser is the user that the demo logs in as.
const demoUser = "standalone-demo"

// withDemoUser adds the demo's user, with a password that nobody else knows, where there is a
// demo. Users that the settings name, or the one of development, stay.
func withDemoUser(o Options) (Options, *client.Login, error) {
	if !o.Demo {
		return o, nil, nil
	}
	password := rand.Text()
	hash, err := auth.HashPassword(password)
	if err != nil {
		return o, nil, fmt.Errorf("make a user for the demo: %w", err)
	}
	api := &o.Settings.Gateway.API
	if len(api.Users) == 0 && api.AdminPassword == "" && api.Dev {
		api.AdminPassword = gateway.DefaultPassword
	}
	api.Users = append(slices.Clone(api.Users), gateway.User{
		Username: demoUser, PasswordHash: config.Secret(hash), Roles: []string{"WRITE", "MEMBER"},
	})
	return o, client.WithLogin(demoUser, password), nil
}
