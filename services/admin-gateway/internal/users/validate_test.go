package users_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

func TestValidateFindsWhatNewTableFinds(t *testing.T) {
	t.Parallel()
	for _, list := range [][]users.User{
		nil,
		{{Name: "a", Password: "secret"}},
		{{Name: "a", Password: "secret"}, {Name: "a", Password: "secret"}},
		{{Name: "", Hash: "x"}, {Name: "b:", Password: "p"}, {Name: "c"}, {Name: "d", Hash: "$argon2id$", Password: "both"}},
	} {
		_, made := users.NewTable(list)
		found := users.Validate(list)
		if made == nil {
			require.NoError(t, found)
			continue
		}
		require.EqualError(t, found, made.Error())
	}
}
