// Package config fills a struct from defaults, a YAML file, the environment and flags,
// where each wins over the ones before it, and tells everything that is wrong at once.
//
// The struct is the documentation: each field has a koanf tag with its part of the key and
// a usage tag with meaning, unit and what zero does. A field {koanf:"host"} in a struct
// {koanf:"redis"} is
//
//	coordinator.redis.host  in the file
//	RSC_REDIS_HOST          in the environment
//	--redis-host            as a flag
//
// Fields are strings, booleans, integers, durations with a unit ("10s"), lists of strings,
// Secret, or lists of structs with such fields. A Secret has no flag, because command lines
// are seen by everybody; instead the variable with _FILE behind its name points to a file
// that holds it. A list of structs has neither flag nor variable, but as well one with _FILE,
// for a file that is a YAML list of its elements. It replaces the list of the file as a whole.
//
// Texts of a YAML file may refer to the environment: ${NAME} or ${NAME:default}.
//
// One file may serve every service of the suite: Source.Ignore names the sections of the
// others. A key that nobody knows refuses the start and is answered with the nearest one
// that is known.
package config
