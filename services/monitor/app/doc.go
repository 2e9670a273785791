// Package app puts the monitor together: settings, observer, rates and API. It is the one
// package of the service that another program imports, to run the monitor inside itself.
//
//	app, err := app.New(ctx, config, app.Deps{Logger: log})
//	err = app.Run(ctx) // listens until ctx ends, then finishes what it has begun
//
// A program that has its own listener uses Start, Handler and Close instead of Run.
//
// File map: config.go and validate.go hold the settings; access.go, coordinators.go and wiring.go
// make the parts; app.go and serve.go run and end them; board.go holds the newest look;
// metrics.go tells Prometheus of it.
package app
