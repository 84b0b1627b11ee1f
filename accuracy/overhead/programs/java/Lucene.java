import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.RAMDirectory;
import org.apache.lucene.util.Version;

/** Apache Lucene makes an index of some documents, and searches in it. */
public class Lucene implements Runs.Work {
  static final int DOCUMENTS = 100, WORDS = 120, SEARCHES = 200;

  final Random random = new Random(1);

  String word() {
    return "word" + (int) Math.abs(random.nextGaussian() * 300);
  }

  @Override
  public void once() throws Exception {
    RAMDirectory directory = new RAMDirectory();
    try (IndexWriter writer =
        new IndexWriter(directory, new IndexWriterConfig(Version.LATEST, new StandardAnalyzer()))) {
      for (int i = 0; i < DOCUMENTS; i++) {
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < WORDS; k++) {
          text.append(word()).append(' ');
        }
        Document document = new Document();
        document.add(new TextField("text", text.toString(), Field.Store.YES));
        writer.addDocument(document);
      }
    }
    int found = 0;
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      IndexSearcher searcher = new IndexSearcher(reader);
      for (int i = 0; i < SEARCHES; i++) {
        BooleanQuery query = new BooleanQuery();
        query.add(new TermQuery(new Term("text", word())), BooleanClause.Occur.SHOULD);
        query.add(new TermQuery(new Term("text", word())), BooleanClause.Occur.SHOULD);
        found += searcher.search(query, 10).totalHits;
      }
    }
    if (found == 0) {
      throw new IllegalStateException("nothing found");
    }
  }
}
