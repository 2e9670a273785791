package httpapi

import (
	"context"
	"net/http"
)

// system tells the gateway what runs here and with which settings (monitoring, Console: System).
// Settings say where things are, so unlike other reads this one needs the gateway's token, and
// the rights to read of all streams.
func (a *api) system(context.Context, http.ResponseWriter, *http.Request) (answer, error) {
	told := a.Process
	told.Configuration = orEmpty(told.Configuration)
	return answer{http.StatusOK, told}, nil
}
