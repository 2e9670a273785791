package app

import (
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

// table returns the users of the settings. It hashes plain passwords, which takes a while.
func (a API) table() (*users.Table, error) {
	list, err := a.list()
	if err != nil {
		return nil, err
	}
	table, err := users.NewTable(list)
	if err != nil {
		return nil, fmt.Errorf("api.users: %w", err)
	}
	return table, nil
}

// validateUsers returns what is wrong with the users.
func (a API) validateUsers() error {
	list, err := a.list()
	if invalid := users.Validate(list); invalid != nil {
		err = errors.Join(err, fmt.Errorf("api.users: %w", invalid))
	}
	return err
}

// list returns the users with those that other settings make.
func (a API) list() ([]users.User, error) {
	given := a.Users
	if admin, is := a.admin(); is {
		given = append([]User{admin}, given...)
	}
	var list []users.User
	var problems []error
	for _, u := range given {
		user, err := u.user()
		if err != nil {
			problems = append(problems, fmt.Errorf("api.users: %w", err))
		}
		list = append(list, user)
	}
	return list, errors.Join(problems...)
}

// admin returns the user of admin-username. In development one exists where there are no
// users at all.
func (a API) admin() (User, bool) {
	password := a.AdminPassword
	if password == "" && a.Dev && len(a.Users) == 0 {
		password = DefaultPassword
	}
	return User{Username: a.AdminUsername, Password: password, Roles: []string{"ADMIN"}}, password != ""
}

func (u User) user() (users.User, error) {
	var problems []error
	user := users.User{Name: u.Username, Hash: u.PasswordHash.Reveal(), Password: config.Secret(u.Password.Reveal())}
	for _, name := range u.Roles {
		granted, err := auth.ParseRole(name)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", u.Username, err))
		}
		user.Roles |= granted
	}
	for _, pattern := range u.Scopes {
		scope, err := auth.ParseScope(pattern)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", u.Username, err))
		}
		user.Scopes = append(user.Scopes, scope)
	}
	if len(u.Roles) == 0 {
		problems = append(problems, fmt.Errorf("%s has no roles", u.Username))
	}
	return user, errors.Join(problems...)
}
