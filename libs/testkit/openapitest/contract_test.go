package openapitest_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
)

// contract is what these tests read of the original service's contract (wire contract).
type contract struct {
	Paths      map[string]map[string]yaml.Node `yaml:"paths"`
	Components struct {
		Schemas map[string]shape `yaml:"schemas"`
	} `yaml:"components"`
}

type original struct {
	OperationID string               `yaml:"operationId"`
	Responses   map[string]yaml.Node `yaml:"responses"`
	More        []string             `yaml:"x-serverStatusCodes"`
}

type shape struct {
	Ref        string           `yaml:"$ref"`
	Type       string           `yaml:"type"`
	Format     string           `yaml:"format"`
	Enum       []string         `yaml:"enum"`
	Nullable   bool             `yaml:"nullable"`
	Required   []string         `yaml:"required"`
	More       []string         `yaml:"x-serverRequired"`
	Properties map[string]shape `yaml:"properties"`
	Items      *shape           `yaml:"items"`
	OneOf      []shape          `yaml:"oneOf"`
}

func readContract(t *testing.T) contract {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/contract/shapes.yaml")
	require.NoError(t, err)
	var c contract
	require.NoError(t, yaml.Unmarshal(data, &c))
	return c
}

// declaredOnly are statuses that the original declares and, as its own notes say, does not
// give.
func declaredOnly() map[string]string {
	return map[string]string{
		"deleteCoordinatorGroup": "422", // GROUP_HAS_ACTIVE_MEMBERS is 409
		"sendConsumerHeartbeat":  "404", // 200 UNKNOWN_MEMBER_ID
	}
}

func TestEveryOperationOfTheContractIsDocumentedUnderItsName(t *testing.T) {
	t.Parallel()
	documented := map[string]openapitest.Operation{}
	for _, operation := range openapitest.Load(t).Operations() {
		documented[strings.ToLower(operation.Method)+" "+operation.Path] = operation
	}
	var missing []string
	for path, item := range readContract(t).Paths {
		for method, node := range item {
			if method == "parameters" {
				continue
			}
			var want original
			require.NoError(t, node.Decode(&want))
			have, there := documented[method+" "+path]
			if !there {
				missing = append(missing, path)
				continue
			}
			require.Equal(t, want.OperationID, have.ID)
			for status := range want.Responses {
				want.More = append(want.More, status)
			}
			for _, status := range want.More {
				if declaredOnly()[have.ID] != status {
					require.NotNilf(t, have.Spec().Responses.Value(status), "%s of %s", status, have.ID)
				}
			}
		}
	}
	require.Empty(t, missing)
}

// TestSchemasTakeAndGiveWhatThoseOfTheContractDo: additions are extra fields of answers and
// optional fields of requests only (wire contract).
func TestSchemasTakeAndGiveWhatThoseOfTheContractDo(t *testing.T) {
	t.Parallel()
	spec := openapitest.Load(t).Spec()
	compared := 0
	for name, want := range readContract(t).Components.Schemas {
		have, there := spec.Components.Schemas[name]
		require.Truef(t, there, "%s is missing", name)
		compared++
		requireSameShape(t, name, want, have)
		required := append(slices.Clone(want.Required), want.More...)
		require.Subset(t, have.Value.Required, required, name)
		if strings.HasSuffix(name, "Request") && name != "LoginRequest" {
			require.Subset(t, required, have.Value.Required, "%s must not ask for more", name)
		}
		for field, inner := range want.Properties {
			require.NotNilf(t, have.Value.Properties[field], "%s.%s", name, field)
			requireSameShape(t, name+"."+field, inner, have.Value.Properties[field])
		}
	}
	require.Greater(t, compared, 45)
}

// requireSameShape compares type, enum and whether there can be a null.
func requireSameShape(t *testing.T, at string, want shape, have *openapi3.SchemaRef) {
	t.Helper()
	name := nameOf(want.Ref)
	nullable := want.Nullable
	if len(want.OneOf) > 0 {
		name, nullable = nameOf(want.OneOf[0].Ref), true
	}
	if nullable {
		require.Truef(t, have.Value.Nullable, "%s can be null", at)
	}
	if name != "" {
		refs := []string{nameOf(have.Ref)}
		for _, part := range have.Value.AllOf {
			refs = append(refs, nameOf(part.Ref))
		}
		require.Containsf(t, refs, name, "%s", at)
		return
	}
	require.Truef(t, have.Value.Type.Is(want.Type), "%s is %s", at, want.Type)
	if len(want.Enum) > 0 {
		require.ElementsMatch(t, want.Enum, have.Value.Enum, at)
	}
	if want.Items != nil {
		requireSameShape(t, at+"[]", *want.Items, have.Value.Items)
	}
}

func nameOf(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }
