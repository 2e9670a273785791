package httpapi

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// system tells the gateway what runs here and with which settings (monitoring, Console: System).
func (a *api) system(context.Context, *http.Request) (any, error) {
	told := a.Process
	if told.Configuration == nil {
		told.Configuration = []protocol.SystemSetting{}
	}
	return told, nil
}

// guardedWhole lets those through who may read of all streams, whatever the query names.
func (a *api) guardedWhole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.Guard.open {
			caller, err := a.Guard.identify(r)
			if err == nil {
				err = permit(caller, "")
			}
			if err != nil {
				a.answers.Error(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
