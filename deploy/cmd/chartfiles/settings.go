package main

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	web "github.com/redis-stream-coordinator/rsc/web/app"
)

// duration is what time.ParseDuration takes.
const duration = `^[+-]?([0-9]+(\.[0-9]*)?(ns|us|ms|s|m|h))+$|^0$`

// schema is a piece of JSON schema.
type schema map[string]any

// ownSettings are the keys that the chart sets itself, or has other values for; those that end
// in a dot are whole sections.
func ownSettings() []string {
	return []string{
		"listen", "metrics-listen", "shutdown-timeout", "redis.", "store.type", "store.postgres.", "audit.postgres.",
		"api.jwks-url", "api.dev", "api.token-key-file", "api.admin-username",
		"gateway.listen", "gateway.metrics-listen", "gateway.shutdown-timeout", "gateway.coordinators", "gateway.monitor", "gateway.web",
		"monitor.listen", "monitor.metrics-listen", "monitor.shutdown-timeout", "monitor.coordinator",
		"web.listen", "web.metrics-listen", "web.shutdown-timeout", "web.gateway",
	}
}

// settingsSchema describes the value settings: every setting of a service that is no secret,
// no list of structs and not the chart's own.
func settingsSchema() schema {
	root := object("Settings of the services by the keys of their configuration file, without what the chart sets itself.")
	for _, defaults := range []any{coordinator.DefaultConfig(), gateway.DefaultConfig(), monitor.DefaultConfig(), web.DefaultConfig()} {
		addSettings(root, reflect.ValueOf(defaults), "")
	}
	return root
}

// addSettings adds the fields of a struct to the schema of its section.
func addSettings(to schema, of reflect.Value, prefix string) {
	properties, _ := to["properties"].(schema)
	for i := range of.NumField() {
		field := of.Type().Field(i)
		name := field.Tag.Get("koanf")
		key := prefix + name
		if name == "" || isOwn(key) {
			continue
		}
		if field.Type.Kind() == reflect.Struct {
			section, known := properties[name].(schema)
			if !known {
				section = object("")
			}
			addSettings(section, of.Field(i), key+".")
			if inner, _ := section["properties"].(schema); len(inner) > 0 {
				properties[name] = section
			}
			continue
		}
		if leaf := leafSchema(field.Type); leaf != nil && properties[name] == nil {
			leaf["description"] = field.Tag.Get("usage")
			properties[name] = leaf
		}
	}
}

func isOwn(key string) bool {
	return slices.ContainsFunc(ownSettings(), func(own string) bool {
		return key == own || strings.HasSuffix(own, ".") && strings.HasPrefix(key+".", own)
	})
}

// leafSchema returns what a setting takes, nil for one that does not belong into values.
func leafSchema(of reflect.Type) schema {
	switch of {
	case reflect.TypeFor[config.Secret]():
		return nil
	case reflect.TypeFor[time.Duration]():
		return schema{"type": "string", "pattern": duration}
	case reflect.TypeFor[[]string]():
		return schema{"type": "array", "items": schema{"type": "string"}}
	}
	types := map[string]string{"bool": "boolean", "string": "string", "float64": "number", "int": "integer"}
	if name, known := types[of.Kind().String()]; known {
		return schema{"type": name}
	}
	return nil
}

// object is an object that takes no keys but those that are added.
func object(description string) schema {
	made := schema{"type": "object", "additionalProperties": false, "properties": schema{}}
	if description != "" {
		made["description"] = description
	}
	return made
}
