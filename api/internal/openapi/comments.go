package openapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"unicode"
)

// Comments are the comments of types and fields, by package, type and field: as
// "storage.Home" and "storage.Home.Name".
type Comments map[string]string

// sources are the folders of the types that are documented, from the module's
// root.
var sources = []string{"api", "api/internal/openapi", "events", "storage", "pricing", "pricing/eligibility", "pricing/savings"}

// ReadComments reads the comments of the sources below the module's root.
func ReadComments(root string) (Comments, error) {
	c := Comments{}
	for _, folder := range sources {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name) //nolint:gosec // the module's own files
			if err != nil {
				return nil, err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			c.read(file)
		}
	}
	return c, nil
}

func (c Comments) read(file *ast.File) {
	for _, decl := range file.Decls {
		types, ok := decl.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		for _, spec := range types.Specs {
			named := spec.(*ast.TypeSpec)
			path := file.Name.Name + "." + named.Name.Name
			if named.Doc != nil {
				c[path] = named.Doc.Text()
			} else if types.Doc != nil {
				c[path] = types.Doc.Text()
			}
			if body, ok := named.Type.(*ast.StructType); ok {
				c.readFields(path, body)
			}
		}
	}
}

func (c Comments) readFields(path string, body *ast.StructType) {
	for _, f := range body.Fields.List {
		text := f.Doc.Text()
		if text == "" {
			text = f.Comment.Text()
		}
		for _, name := range f.Names {
			c[path+"."+name.Name] = text
			text = "" // what is said of several at once stands at the first
		}
	}
}

// ofType is what is said of a type, without its name.
func (c Comments) ofType(t reflect.Type) string {
	if said, ok := descriptions[t.String()]; ok {
		return said
	}
	return sentence(t.Name(), t.Name(), c[t.String()])
}

// ofField is what is said of a field, with the names that JSON has for it and the
// fields beside it.
func (c Comments) ofField(f *field) string {
	if said, ok := descriptions[f.key()]; ok {
		return said
	}
	text := sentence(f.Name, f.name, c[f.parent.String()+"."+f.Name])
	for i := range f.parent.NumField() {
		sibling := f.parent.Field(i)
		name := jsonName(sibling)
		if len(name) < 4 {
			continue
		}
		// Not where it is part of a name, as in Utility Rate Database.
		word := regexp.MustCompile(`\b` + sibling.Name + `\b( [A-Z])?`)
		text = word.ReplaceAllStringFunc(text, func(found string) string {
			if found == sibling.Name {
				return name
			}
			return found
		})
	}
	return text
}

// sentence is a Go comment as a sentence of its own: "Name is what it is called"
// becomes "What it is called".
func sentence(name, shown, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	rest, ok := strings.CutPrefix(text, name+" ")
	if !ok {
		return capital(text)
	}
	for _, verb := range []string{"is ", "are "} {
		if what, ok := strings.CutPrefix(rest, verb); ok && !strings.HasPrefix(what, "by default") && !strings.HasPrefix(what, "from ") && !strings.HasPrefix(what, "null") {
			return capital(what)
		}
	}
	if strings.HasPrefix(rest, "and ") {
		return text
	}
	if name == shown { // a type
		return capital(rest)
	}
	return shown + " " + rest
}

func capital(text string) string {
	for i, r := range text {
		return string(unicode.ToUpper(r)) + text[i+len(string(r)):]
	}
	return ""
}

// jsonName is a field's name in JSON, empty where it has none.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}
