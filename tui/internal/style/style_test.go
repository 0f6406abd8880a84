package style

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// appearances are all that a terminal can be.
func appearances() map[string]Appearance {
	out := map[string]Appearance{}
	for profile, name := range map[colorprofile.Profile]string{
		colorprofile.NoTTY: "no terminal", colorprofile.ASCII: "no colour", colorprofile.ANSI: "16 colours", colorprofile.ANSI256: "256 colours", colorprofile.TrueColor: "true colour",
	} {
		for _, light := range []bool{false, true} {
			for _, ascii := range []bool{false, true} {
				out[fmt.Sprintf("%s, light %t, ASCII %t", name, light, ascii)] = Appearance{Profile: profile, Light: light, ASCII: ascii}
			}
		}
	}
	return out
}

func (s *Set) all() map[string]Style {
	return map[string]Style{"Plain": s.Plain, "Dim": s.Dim, "Faint": s.Faint, "Bold": s.Bold, "Title": s.Title, "Accent": s.Accent, "Key": s.Key,
		"OK": s.OK, "Warn": s.Warn, "Bad": s.Bad, "Info": s.Info, "Badge": s.Badge}
}

func TestTextStaysWhatItIs(t *testing.T) {
	for name, a := range appearances() {
		for _, selected := range []bool{false, true} {
			for style, st := range New(a).On(selected).all() {
				var b strings.Builder
				st.Write(&b, "text")
				if got := st.Render("text"); ansi.Strip(got) != "text" || got != b.String() {
					t.Errorf("%s: %s writes %q and renders %q", name, style, b.String(), got)
				}
				b.Reset()
				st.Write(&b, "")
				if st.Render("") != "" || b.Len() != 0 {
					t.Errorf("%s: %s writes something for nothing", name, style)
				}
			}
		}
	}
}

// TestNoColourMeansNone: neither in text nor in areas, also on the selected row.
func TestNoColourMeansNone(t *testing.T) {
	for name, a := range appearances() {
		if a.Colour() {
			continue
		}
		set := New(a)
		for _, s := range []*Set{set, set.On(true)} {
			for style, st := range s.all() {
				if text := st.Render("x"); strings.Contains(text, "\x1b[3") || strings.Contains(text, ";3") || strings.Contains(text, "[4") {
					t.Errorf("%s: %s has a colour: %q", name, style, text)
				}
			}
			for area := range areaCount {
				if text := s.Areas.Swatch(area, "x") + s.Areas.Pair(area, -1).Render("x") + s.Areas.Limit(area).Render("x"); strings.Contains(text, "\x1b[3") || strings.Contains(text, "\x1b[4") {
					t.Errorf("%s: the area %s has a colour: %q", name, area, text)
				}
			}
		}
	}
}

// TestWarningsStandOut in every appearance: what is bad must not look like what is plain.
func TestWarningsStandOut(t *testing.T) {
	for name, a := range appearances() {
		s := New(a)
		for style, st := range map[string]Style{"Warn": s.Warn, "Bad": s.Bad, "Bold": s.Bold, "Title": s.Title, "Key": s.Key} {
			if st == s.Plain {
				t.Errorf("%s: %s looks like plain text", name, style)
			}
		}
	}
}

func TestTheSelectedRowStandsOut(t *testing.T) {
	for name, a := range appearances() {
		s := New(a)
		if s.On(false) != s {
			t.Errorf("%s: a row that is not selected has styles of its own", name)
		}
		for style, st := range s.On(true).all() {
			if st == s.all()[style] {
				t.Errorf("%s: %s looks the same on the selected row", name, style)
			}
		}
		if s.On(true).On(true) != s.On(true) {
			t.Errorf("%s: selecting twice changes something", name)
		}
	}
}

// TestAreasAreToldApart by their colours, or by their patterns where there are none.
func TestAreasAreToldApart(t *testing.T) {
	for name, a := range appearances() {
		s, owner := New(a), map[string]Area{}
		for area := range areaCount {
			mark := s.Areas.Swatch(area, s.Full)
			if other, ok := owner[mark]; ok {
				t.Errorf("%s: %s and %s look the same: %q", name, other, area, mark)
			}
			owner[mark] = area
		}
		if got, want := s.Areas.Colour(), a.Colour() && !a.ASCII; got != want {
			t.Errorf("%s: areas have colours %t, want %t", name, got, want)
		}
	}
}

// TestBoundariesShowBothAreas where there are colours: the lower one as the glyph, the upper one behind it.
func TestBoundariesShowBothAreas(t *testing.T) {
	s := New(Appearance{Profile: colorprofile.TrueColor})
	if s.Areas.Pair(ProdUsed, Mid) == s.Areas.Pair(ProdUsed, BatchUsed) || s.Areas.Pair(ProdUsed, Mid) == s.Areas.Pair(BatchFree, Mid) {
		t.Error("two boundaries look the same")
	}
	if s.Areas.Pair(ProdUsed, -1) == s.Areas.Pair(ProdUsed, Mid) {
		t.Error("what ends in the background looks like what ends in an area")
	}
	if s.Areas.Limit(ProdUsed) == s.Areas.Limit(Mid) {
		t.Error("the capacity hides what it crosses")
	}
}

func TestEveryGlyphIsOneCell(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		glyphs := reflect.ValueOf(glyphsFor(ascii))
		for i := range glyphs.NumField() {
			field, name := glyphs.Field(i), glyphs.Type().Field(i).Name
			var texts []string
			switch field.Kind() {
			case reflect.String:
				texts = []string{field.String()}
			case reflect.Slice, reflect.Array:
				for j := range field.Len() {
					texts = append(texts, field.Index(j).String())
				}
			}
			for _, text := range texts {
				if ansi.StringWidth(text) > 1 {
					t.Errorf("ASCII %t: %s is %q, of %d cells", ascii, name, text, ansi.StringWidth(text))
				}
				if at := strings.IndexFunc(text, func(r rune) bool { return r > 0x7e }); ascii && at >= 0 {
					t.Errorf("%s is %q, which is no ASCII", name, text)
				}
			}
		}
	}
}

func TestNamesOfAreas(t *testing.T) {
	seen := map[string]bool{}
	for area := range areaCount {
		if name := area.String(); name == "" || seen[name] {
			t.Errorf("area %d is called %q", area, name)
		} else {
			seen[name] = true
		}
	}
	if Area(-1).String() != "" || areaCount.String() != "" {
		t.Error("what is no area has a name")
	}
}
