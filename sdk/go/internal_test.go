package holdfast

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"
)

func TestEveryExportedNameHasADocument(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	noTests := func(file fs.FileInfo) bool { return !strings.HasSuffix(file.Name(), "_test.go") }
	packages, err := parser.ParseDir(files, ".", noTests, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := doc.New(packages["holdfast"], "holdfast", 0)
	check := func(name, text string) {
		if ast.IsExported(name) && text == "" {
			t.Errorf("%s has no document", name)
		}
	}
	for _, one := range found.Funcs {
		check(one.Name, one.Doc)
	}
	for _, one := range found.Types {
		check(one.Name, one.Doc)
		for _, method := range append(one.Methods, one.Funcs...) {
			if method.Name != "Error" {
				check(method.Name, method.Doc)
			}
		}
		for _, constants := range append(one.Consts, one.Vars...) {
			check(constants.Names[0], constants.Doc)
		}
	}
	for _, one := range append(found.Consts, found.Vars...) {
		check(one.Names[0], one.Doc)
	}
}

func TestPiecesAreWholeLinesWithinTheLimit(t *testing.T) {
	t.Parallel()
	lines := []string{strings.Repeat("a", 2_000), strings.Repeat("😀", 1_000), strings.Repeat("b", 100), ""}
	found := pieces(lines)
	if strings.Join(found, "") != strings.Join(lines, "\n")+"\n" || len(found) != 2 {
		t.Errorf("%d pieces", len(found))
	}
	for _, piece := range found {
		if utf16Length(piece) > pieceChars {
			t.Errorf("a piece of %d characters", utf16Length(piece))
		}
	}
}

// The ids are those of the Java library: a job started in one language goes on in another.
func TestIdsOfChildrenFollowFromTheirParent(t *testing.T) {
	t.Parallel()
	parent, err := parseID("01a1dd46-efa0-7231-88cf-925231baa463")
	if err != nil {
		t.Fatal(err)
	}
	if id := childID(parent, "count", 1, 0); id != javaChild {
		t.Errorf("it is %s", id)
	}
	for _, wrong := range []string{"", "1-1-1-1-1", "01a1dd46-efa0-7231-88cf-925231baa46g"} {
		if _, err := parseID(wrong); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

const javaChild = "01a1dd46-efa0-7812-b212-fba79ea21c00"
