import org.python.core.PyCode;
import org.python.util.PythonInterpreter;

/** Jython runs a program in Python: primes, a table of words and some objects. */
public class Jython implements Runs.Work {
  static final String PROGRAM = "class Item:\n"
      + "    def __init__(self, n):\n        self.n = n\n"
      + "    def more(self):\n        return Item(self.n * 31 % 1009)\n"
      + "def work():\n"
      + "    sieve = [True] * 3000\n"
      + "    for i in range(2, 55):\n"
      + "        if sieve[i]:\n            for k in range(i * i, 3000, i):\n                sieve[k] = False\n"
      + "    words = {}\n"
      + "    for i in range(3000):\n        w = 'w%d' % (i % 97)\n        words[w] = words.get(w, 0) + sieve[i]\n"
      + "    item = Item(7)\n"
      + "    for i in range(3000):\n        item = item.more()\n"
      + "    return sum(words.values()) + item.n\n"
      + "if work() < 400:\n    raise ValueError('wrong')\n";

  final PythonInterpreter interpreter;
  final PyCode code;

  public Jython() {
    System.setProperty("python.import.site", "false");
    System.setProperty("python.cachedir.skip", "true");
    interpreter = new PythonInterpreter();
    code = interpreter.compile(PROGRAM);
  }

  @Override
  public void once() {
    interpreter.exec(code);
  }
}
