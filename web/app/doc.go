// Package app puts the web console together: settings, the gateway's API and the pages. It is
// the one package of the module that another program imports, to run the console inside itself.
//
//	app, err := app.New(ctx, config, app.Deps{Logger: log})
//	err = app.Run(ctx) // listens until ctx ends, then finishes what it has begun
//
// File map: config.go and validate.go hold the settings; app.go makes the parts; serve.go runs
// and ends them.
package app
