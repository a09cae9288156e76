package clusters

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/bloomery/bloomery/eval/mavenjars"
)

// stateName is the file in the folder of a cluster that Load reads.
const stateName = "cluster.json"

// save writes the state.
func (c *Cluster) save() error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Dir, stateName), append(b, '\n'), 0o666)
}

// Load returns the cluster that this or another process started with the folder. The error is fs.ErrNotExist if no
// cluster was started. The process number of a daemon that has ended is 0.
func Load(dir string) (*Cluster, error) {
	b, err := os.ReadFile(filepath.Join(dir, stateName))
	if err != nil {
		return nil, err
	}
	c := new(Cluster)
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, stateName), err)
	}
	if c.engine = engines[c.Engine]; c.engine == nil {
		return nil, fmt.Errorf("%s: engine %q", filepath.Join(dir, stateName), c.Engine)
	}
	for _, d := range c.Daemons {
		if !d.same() {
			d.PID = 0
		}
	}
	return c, nil
}

// Folder returns the default folder for a cluster of an engine.
func Folder(engine string) (string, error) {
	top, err := mavenjars.Top()
	return filepath.Join(top, "running", engine), err
}

// Remove stops a cluster and removes its folder with configuration and logs.
func (c *Cluster) Remove() error {
	if err := c.Stop(); err != nil {
		return err
	}
	return os.RemoveAll(c.Dir)
}

// Ask reads the JSON value at a path of Web, such as /overview of Flink.
func (c *Cluster) Ask(ctx context.Context, path string, v any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Web+path, nil)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", r.URL, a.Status)
	}
	return json.NewDecoder(a.Body).Decode(v)
}
