package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A validator checks values against the part of JSON Schema that schema.json uses. It is stricter:
// fields that the schema does not mention must not be there.
type validator struct{ defs map[string]any }

func newValidator(t *testing.T) (*validator, map[string]any) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(Schema, &root); err != nil {
		t.Fatal(err)
	}
	defs, _ := root["$defs"].(map[string]any)
	return &validator{defs}, root
}

var keywords = []string{"$schema", "$defs", "$ref", "title", "description", "type", "required", "properties",
	"additionalProperties",
	"items", "minItems", "maxItems", "enum", "const", "minimum", "maximum"}

func (v *validator) check(at string, schema map[string]any, value any) error {
	for k := range schema {
		if !slices.Contains(keywords, k) {
			return fmt.Errorf("%s: the schema uses %s, which this test does not know", at, k)
		}
	}
	if ref, ok := schema["$ref"].(string); ok {
		def, ok := v.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		if !ok {
			return fmt.Errorf("%s: no definition %s", at, ref)
		}
		return v.check(at, def, value)
	}
	if want, ok := schema["const"]; ok && want != value {
		return fmt.Errorf("%s: %v, want %v", at, value, want)
	}
	if of, ok := schema["enum"].([]any); ok && !slices.Contains(of, value) {
		return fmt.Errorf("%s: %v is not one of %v", at, value, of)
	}
	if err := checkType(at, schema["type"], value); err != nil {
		return err
	}
	switch x := value.(type) {
	case float64:
		if least, ok := schema["minimum"].(float64); ok && x < least {
			return fmt.Errorf("%s: %v is less than %v", at, x, least)
		}
		if most, ok := schema["maximum"].(float64); ok && x > most {
			return fmt.Errorf("%s: %v is more than %v", at, x, most)
		}
	case []any:
		return v.checkList(at, schema, x)
	case map[string]any:
		return v.checkObject(at, schema, x)
	}
	return nil
}

func (v *validator) checkList(at string, schema map[string]any, list []any) error {
	if least, ok := schema["minItems"].(float64); ok && len(list) < int(least) {
		return fmt.Errorf("%s: %d items", at, len(list))
	}
	if most, ok := schema["maxItems"].(float64); ok && len(list) > int(most) {
		return fmt.Errorf("%s: %d items", at, len(list))
	}
	items, _ := schema["items"].(map[string]any)
	for i, item := range list {
		if err := v.check(fmt.Sprintf("%s[%d]", at, i), items, item); err != nil {
			return err
		}
	}
	return nil
}

func (v *validator) checkObject(at string, schema, object map[string]any) error {
	required, _ := schema["required"].([]any)
	for _, key := range required {
		if _, ok := object[key.(string)]; !ok {
			return fmt.Errorf("%s: no %s", at, key)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for key, value := range object {
		of, ok := properties[key].(map[string]any)
		if !ok {
			if of, ok = schema["additionalProperties"].(map[string]any); !ok {
				return fmt.Errorf("%s: the schema does not mention %s", at, key)
			}
		}
		if err := v.check(at+"."+key, of, value); err != nil {
			return err
		}
	}
	return nil
}

func checkType(at string, want, value any) error {
	var types []any
	switch w := want.(type) {
	case nil:
		return nil
	case string:
		types = []any{w}
	case []any:
		types = w
	}
	is := "null"
	switch x := value.(type) {
	case string:
		is = "string"
	case bool:
		is = "boolean"
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	case float64:
		is = "number"
		if x == math.Trunc(x) && slices.Contains(types, any("integer")) {
			is = "integer"
		}
	}
	if !slices.Contains(types, any(is)) {
		return fmt.Errorf("%s: is of type %s, want %v", at, is, types)
	}
	return nil
}

// TestSchema: every report and comparison that has a golden conforms to the schema.
func TestSchema(t *testing.T) {
	v, root := newValidator(t)
	goldens, err := filepath.Glob("testdata/*.json")
	if err != nil || len(goldens) < 8 {
		t.Fatalf("%d goldens: %v", len(goldens), err)
	}
	checked, diffs := 0, 0
	for _, name := range goldens {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var report any
		if err := json.Unmarshal(text, &report); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.HasPrefix(filepath.Base(name), "ask") {
			if err := v.check("ask", v.defs["ask"].(map[string]any), report); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if strings.HasPrefix(filepath.Base(name), "diff") {
			diffs++
			if err := v.check("diff", v.defs["diff"].(map[string]any), report); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		checked++
		if err := v.check("report", root, report); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if checked < 8 || diffs < 8 {
		t.Errorf("%d and %d goldens checked", checked, diffs)
	}
}

// TestSchemaFindsFaults: the validator finds errors.
func TestSchemaFindsFaults(t *testing.T) {
	v, root := newValidator(t)
	good := toBytes(t, analysed(made()))
	for _, c := range [][2]string{
		{`"version": 1`, `"version": 2`},
		{`"verdict": "faster"`, `"verdict": "good"`},
		{`"share": 60`, `"share": 160`},
		{`"speedup": 25`, `"speedup": 25.5`},
		{`"metric"`, `"mertic"`},
		{`"warnings": []`, `"warnings": null`},
		{`"slope_ci": [`, `"slope_ci": [ 1,`},
	} {
		var report any
		if !bytes.Contains(good, []byte(c[0])) {
			t.Fatalf("no %s in the report", c[0])
		}
		if err := json.Unmarshal(bytes.Replace(good, []byte(c[0]), []byte(c[1]), 1), &report); err != nil {
			t.Fatal(err)
		}
		if v.check("report", root, report) == nil {
			t.Errorf("%s is not found", c[1])
		}
	}
}
