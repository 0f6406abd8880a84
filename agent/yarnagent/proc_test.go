package yarnagent

import "testing"

func TestContainerIn(t *testing.T) {
	for name, test := range map[string]struct{ environment, want string }{
		"among others":             {environment: "PATH=/bin\x00CONTAINER_ID=" + first + "\x00HOME=/", want: first},
		"alone":                    {environment: "CONTAINER_ID=" + first, want: first},
		"the first of two":         {environment: "CONTAINER_ID=a\x00CONTAINER_ID=b\x00", want: "a"},
		"in another's value":       {environment: "X=CONTAINER_ID=a\x00"},
		"none":                     {environment: ""},
		"empty":                    {environment: "CONTAINER_ID=\x00"},
		"a name that ends like it": {environment: "MY_CONTAINER_ID=a\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := containerIn([]byte(test.environment)); got != test.want {
				t.Errorf("containerIn() = %q, want %q", got, test.want)
			}
		})
	}
}
