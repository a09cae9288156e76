package job

import "errors"

func (c *Config) checkDataflow() error { return errors.ErrUnsupported }
