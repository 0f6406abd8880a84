package realnode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// systemPrograms are those of the system, which have an image each.
var systemPrograms = []string{"koord-manager", "koord-scheduler", "koord-descheduler", "koord-bridge", "koordlet", "koord-yarn-agent"}

// imageFiles are the images that every real node has, relative to the directory of the programs.
func imageFiles() []string {
	files := []string{imageFile("pause"), imageFile("burn")}
	for _, name := range systemPrograms {
		files = append(files, imageFile(name))
	}
	return files
}

// hasStaleImages reports whether the images of the system were made of other programs than those that are there: `make real-node` keeps
// the sum of the programs' sums. Programs that cannot be read make nothing stale.
func (n Node) hasStaleImages() bool {
	sums := sha256.New()
	for _, name := range systemPrograms {
		sum := sha256.New()
		program, err := os.Open(filepath.Join(filepath.Dir(n.Programs), name))
		if err == nil {
			_, err = io.Copy(sum, program)
			_ = program.Close() // it was only read
		}
		if err != nil {
			return false
		}
		fmt.Fprintf(sums, "%x  %s\n", sum.Sum(nil), name)
	}
	made, err := os.ReadFile(n.Program(".versions/system"))
	return err != nil || !strings.HasPrefix(string(made), hex.EncodeToString(sums.Sum(nil)))
}

func imageFile(name string) string { return "images/" + name + ".tar" }

// ImportImages gives containerd, which must be running, the images that every real node has.
func (n Node) ImportImages(ctx context.Context) error {
	for _, image := range imageFiles() {
		if err := n.ImportImage(ctx, n.Program(image)); err != nil {
			return err
		}
	}
	return nil
}

// ImportImage gives containerd the images of an OCI archive.
func (n Node) ImportImage(ctx context.Context, archive string) error {
	cmd := exec.CommandContext(ctx, n.Program("ctr"), "--address", n.ContainerdSocket(), "--namespace", "k8s.io",
		"images", "import", archive)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import image %q: %w: %s", archive, err, strings.TrimSpace(string(output)))
	}
	return nil
}
