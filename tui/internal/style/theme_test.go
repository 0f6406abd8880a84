package style

import (
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"
)

func TestThemesAreChosenByName(t *testing.T) {
	for _, name := range Themes() {
		theme, err := ParseTheme(name)
		if err != nil || !strings.HasPrefix(theme.Describe(), name+": ") {
			t.Errorf("ParseTheme(%q) is %q, error %v", name, theme.Describe(), err)
		}
	}
	if theme, err := ParseTheme(""); theme != "" || err != nil || !strings.HasPrefix(theme.Describe(), "default: ") {
		t.Errorf("no name is %q, error %v", theme.Describe(), err)
	}
	if _, err := ParseTheme("pink"); err == nil || !strings.Contains(err.Error(), "must be one of default, colorblind, contrast") {
		t.Errorf("error %v", err)
	}
}

// shades are the palettes whose colours are known: the 16 of a terminal are its own. Each comes with what is behind it.
func shades(t *testing.T, name Theme) map[string]struct {
	palette
	background color.Color
} {
	t.Helper()
	of := name.declared()
	return map[string]struct {
		palette
		background color.Color
	}{
		"dark": {of.dark(), hex(0x16161e)}, "256 colours": {of.indexed(), hex(0x16161e)}, "light": {of.light(), hex(0xf5f5f5)},
	}
}

// linear is a colour in linear light.
func linear(c color.Color) (out [3]float64) {
	r, g, b, _ := c.RGBA()
	for i, v := range [3]uint32{r, g, b} {
		s := float64(v) / 0xffff
		if out[i] = s / 12.92; s > 0.04045 {
			out[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return out
}

// contrast of two colours, from 1 to 21: the ratio of their relative luminances (WCAG 2.2).
func contrast(a, b color.Color) float64 {
	luminance := func(c color.Color) float64 {
		l := linear(c)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] + 0.05
	}
	x, y := luminance(a), luminance(b)
	return max(x, y) / min(x, y)
}

// sights are how linear colours look to people without one kind of cone, and to others (Machado, Oliveira and Fernandes, 2009, severity 1).
var sights = map[string][3][3]float64{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is a colour as it is seen, in CIE L*a*b* for the white of sRGB.
func lab(c color.Color, sight [3][3]float64) (out [3]float64) {
	in, seen := linear(c), [3]float64{}
	for i := range seen {
		for j := range in {
			seen[i] += sight[i][j] * in[j]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	xyz := [3]float64{
		(0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.9505,
		0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2],
		(0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.089,
	}
	for i, v := range xyz {
		if xyz[i] = 7.787*v + 16.0/116; v > 0.008856 {
			xyz[i] = math.Cbrt(v)
		}
	}
	return [3]float64{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
}

// distance is how different two colours look (CIE 1976); 2.3 is just noticeable, side by side.
func distance(a, b color.Color, sight [3][3]float64) float64 {
	x, y := lab(a, sight), lab(b, sight)
	return math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

// TestSafeColoursAreToldApartByEverybody: states wherever they are, areas from those that they are stacked on.
func TestSafeColoursAreToldApartByEverybody(t *testing.T) {
	const apart = 20
	for shade, p := range shades(t, "colorblind") {
		states := map[string]color.Color{"ok": p.ok, "info": p.info, "warn": p.warn, "bad": p.bad}
		for sight, matrix := range sights {
			for a, one := range states {
				for b, other := range states {
					if got := distance(one, other, matrix); a < b && got < apart {
						t.Errorf("%s, %s: %s and %s differ by %.0f, want %d", shade, sight, a, b, got, apart)
					}
				}
			}
			for area := ProdUsed; area < Rest; area++ {
				if got := distance(p.areas[area], p.areas[area+1], matrix); got < apart {
					t.Errorf("%s, %s: %s and %s differ by %.0f, want %d", shade, sight, area, area+1, got, apart)
				}
			}
		}
	}
}

// TestTextIsReadable: what says something has the contrast that WCAG 2.2 asks for, with the theme for contrast the enhanced one, also on
// the selected row.
func TestTextIsReadable(t *testing.T) {
	for name, want := range map[Theme]float64{"": 4.5, "colorblind": 4.5, "contrast": 7} {
		for shade, p := range shades(t, name) {
			texts := map[string]color.Color{"dim": p.dim, "accent": p.accent, "ok": p.ok, "info": p.info, "warn": p.warn, "bad": p.bad}
			if name == "contrast" {
				texts["text"], texts["faint"] = p.text, p.faint
			}
			for what, text := range texts {
				if got := contrast(text, p.background); got < want {
					t.Errorf("%s, %s: %s has a contrast of %.1f, want %.1f", name.Describe(), shade, what, got, want)
				}
				if got := contrast(text, p.selection); name == "contrast" && got < 4.5 {
					t.Errorf("%s, %s: %s has a contrast of %.1f on the selected row, want 4.5", name.Describe(), shade, what, got)
				}
			}
		}
	}
}

// TestThemesDiffer: each looks different from the others wherever there are colours, and the same where there are none.
func TestThemesDiffer(t *testing.T) {
	for name, a := range appearances() {
		owner := map[string]string{}
		for _, theme := range themes {
			a.Theme = theme.name
			look := fmt.Sprint(New(a).all())
			if other, taken := owner[look]; taken == a.Colour() {
				if taken || len(owner) > 0 {
					t.Errorf("%s: %q looks like %q: %t", name, theme.name, other, taken)
				}
			}
			owner[look] = string(theme.name)
		}
	}
}
