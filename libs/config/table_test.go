package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
)

type user struct {
	Username string        `koanf:"username" usage:"name"`
	Password config.Secret `koanf:"password" usage:"password"`
	Roles    []string      `koanf:"roles" usage:"rights"`
	Life     time.Duration `koanf:"life" usage:"life of a token"`
}

type withUsers struct {
	API struct {
		Users []user `koanf:"users" usage:"who may log in"`
		Port  int    `koanf:"port" usage:"TCP port"`
	} `koanf:"api"`
}

func (w withUsers) Validate() error {
	for _, u := range w.API.Users {
		if u.Username == "invalid" {
			return errors.New("api.users: one is invalid")
		}
	}
	return nil
}

func oneUser() withUsers {
	var w withUsers
	w.API.Port = 8082
	w.API.Users = []user{{Username: "admin", Password: "default-pw"}}
	return w
}

func users(t *testing.T, lines ...string) string {
	t.Helper()
	return file(t, append([]string{"coordinator:", "  api:", "    users:"}, lines...)...)
}

func TestListOfStructsComesFromTheFile(t *testing.T) {
	t.Parallel()
	path := users(t, "    - {username: ops, password: '${OPS_PW}', roles: [READ, '${ROLE:WRITE}'], life: 1h}", "    - {username: '${NAME:x}'}")
	defaults := oneUser()
	got, err := config.Load(defaults, config.Source{File: path, Environ: []string{"OPS_PW=hunter2"}})
	require.NoError(t, err)
	require.Equal(t, []user{
		{Username: "ops", Password: "hunter2", Roles: []string{"READ", "WRITE"}, Life: time.Hour}, {Username: "x"},
	}, got.API.Users)
	require.Equal(t, oneUser(), defaults, "the defaults are not written to")

	got, err = config.Load(oneUser(), config.Source{File: file(t, "coordinator: {api: {users: []}}")})
	require.NoError(t, err)
	require.Empty(t, got.API.Users, "an empty list takes the default users away")
	got, err = config.Load(oneUser(), config.Source{})
	require.NoError(t, err)
	require.Equal(t, oneUser(), got)
}

func TestListOfStructsFromAFileOfItsOwnReplacesTheList(t *testing.T) {
	t.Parallel()
	source := config.Source{
		File:    users(t, "    - {username: main, roles: [READ]}", "    - {username: other}"),
		Environ: []string{"PW=hunter2", "RSC_API_USERS_FILE=" + file(t, "- username: own", "  password: ${PW}", "")},
	}
	got, err := config.Load(oneUser(), source)
	require.NoError(t, err)
	require.Equal(t, []user{{Username: "own", Password: "hunter2"}}, got.API.Users)

	source.Environ = []string{"RSC_API_USERS_FILE=/nowhere/at/all"}
	_, err = config.Load(oneUser(), source)
	require.ErrorContains(t, err, "RSC_API_USERS_FILE: open /nowhere/at/all")
	source.Environ = []string{"RSC_API_USERS_FILE="}
	_, err = config.Load(oneUser(), source)
	require.ErrorIs(t, err, config.ErrInvalid)
	source.Environ = []string{"RSC_API_USERS=[]"}
	_, err = config.Load(oneUser(), source)
	require.ErrorContains(t, err, "RSC_API_USERS cannot hold a list, put it into a file and its path into RSC_API_USERS_FILE")
	source.Environ = []string{"RSC_API_USER_FILE=x"}
	_, err = config.Load(oneUser(), source)
	require.ErrorContains(t, err, "RSC_API_USER_FILE stands for no known key, the nearest is RSC_API_USERS_FILE")
}

func TestEveryProblemOfAListIsToldWithItsIndex(t *testing.T) {
	t.Parallel()
	path := users(
		t, "    - {username: ops, pasword: hunter2}", "    - {rolez: [hunter2], life: hunter2, username: [hunter2]}", "    - hunter2",
		"    -", "    - {1: hunter2}", "    - [hunter2]", "    - {roles: [hunter2, 1], password: 42}", "    - {username: {a: hunter2}}",
		"    - {username: '${NOWHERE}', roles: ['${NOWHERE}']}",
	)
	_, err := config.Load(oneUser(), config.Source{File: path})
	require.ErrorIs(t, err, config.ErrInvalid)
	require.Equal(t, []string{
		"configuration is not valid:",
		"api.users[8].roles[0] refers to the variable NOWHERE, which is not set",
		"api.users[8].username refers to the variable NOWHERE, which is not set",
		"api.users[0].pasword is not a known key, the nearest is api.users[0].password",
		"api.users[1].life must be a duration with a unit, such as 500ms or 10s",
		"api.users[1].rolez is not a known key, the nearest is api.users[1].roles",
		"api.users[1].username must be one text; put numbers and the like in quotes",
		"api.users[2] must be settings by name",
		"api.users[3] must be settings by name",
		"api.users[4].1 is not a known key, the nearest is api.users[4].life",
		"api.users[5] must be settings by name",
		"api.users[6].password must be one text; put numbers and the like in quotes",
		"api.users[6].roles must be a list of texts",
		"api.users[7].username must be one text; put numbers and the like in quotes",
	}, strings.Split(err.Error(), "\n"))
}

func TestWhatIsNoListOfStructsIsRefusedWithoutItsText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"hunter2", "{a: hunter2}", "[hunter2]", "- [hunter2", "- {password: *hunter2}", "- {password: !!int hunter2}", "- {username: !!float 'hunter2`'}",
		"&hunter2 [*hunter2]", "- &hunter2 {password: *hunter2}", "- {roles: hunter2, life: hunter2}", "42", "", "# nothing", "- {<<: hunter2}",
	} {
		for _, source := range []config.Source{
			{File: file(t, "coordinator: {api: {users: ", text, "}}")},
			{File: file(t, text)},
			{Environ: []string{"RSC_API_USERS_FILE=" + file(t, text)}},
		} {
			got, err := config.Load(oneUser(), source)
			if err == nil {
				require.Contains(t, []string{"", "# nothing"}, text, "of the files these two are empty")
				require.Empty(t, source.Environ)
				require.Equal(t, oneUser(), got)
				continue
			}
			require.ErrorIs(t, err, config.ErrInvalid)
			require.NotContains(t, err.Error(), "hunter2", "%q in %+v", text, source)
		}
	}
}

func TestSecretsInAListAreNeverShown(t *testing.T) {
	t.Parallel()
	got, err := config.Load(oneUser(), config.Source{File: users(t, "    - {username: ops, password: hunter2, roles: [READ], life: 90s}")})
	require.NoError(t, err)
	var printed strings.Builder
	require.NoError(t, config.Print(&printed, got))
	require.NotContains(t, fmt.Sprintf("%s %v %+v %#v", printed.String(), got, got, got), "hunter2")
	require.Contains(t, printed.String(), "password: '********'")

	again, err := config.Load(oneUser(), config.Source{File: file(t, printed.String())})
	require.NoError(t, err, "what is printed is a file")
	require.Equal(t, []user{{Username: "ops", Password: "********", Roles: []string{"READ"}, Life: 90 * time.Second}}, again.API.Users)
}

func TestListOfStructsHasNoFlagButIsInTheHelp(t *testing.T) {
	t.Parallel()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.Flags(set, oneUser())
	require.Nil(t, set.Lookup("api-users"))
	require.NotNil(t, set.Lookup("api-port"))
	require.Equal(t, [][2]string{{"RSC_API_USERS_FILE", "who may log in"}}, config.Secrets(oneUser()))
}

func TestValidateSeesTheList(t *testing.T) {
	t.Parallel()
	_, err := config.Load(oneUser(), config.Source{File: users(t, "    - {username: invalid}")})
	require.ErrorContains(t, err, "one is invalid")
}

func TestListOfStructsOfAnotherServiceIsNotRead(t *testing.T) {
	t.Parallel()
	_, err := config.Load(defaults(), config.Source{
		File: users(t, "    - {username: '${NOWHERE}'}"), Environ: []string{"RSC_API_USERS_FILE=/nowhere/at/all"}, Ignore: []string{"api"},
	})
	require.NoError(t, err)
}
